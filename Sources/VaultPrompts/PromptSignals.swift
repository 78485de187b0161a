import Glibc
import Synchronization

/// The signals that end or stop a process, turned into bytes of a pipe while a prompt is open.
///
/// A pipe and `poll` leave no moment in which a signal is missed. Signals that were ignored stay ignored,
/// but for Ctrl-C: whoever is asked can always decline.
struct PromptSignals {
  /// Becomes readable when a signal has come.
  let descriptor: Int32
  private let writing: Int32
  private let before: [(signal: Int32, action: sigaction)]

  /// - Throws: ``TerminalError/noTerminal(_:)`` when no pipe can be had.
  static func take() throws(TerminalError) -> PromptSignals {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw .noTerminal(errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
    return PromptSignals(
      descriptor: ends[0], writing: ends[1], before: watched.compactMap { redirect($0) })
  }

  /// The signals do again what they did before.
  func giveBack() {
    for (signal, action) in before {
      var action = action
      unsafe sigaction(signal, &action, nil)
    }
    signalPipe.store(-1, ordering: .sequentiallyConsistent)
    close(descriptor)
    close(writing)
  }

  /// The oldest signal that came and was not answered.
  func next() -> Int32? {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
  }

  private static func redirect(_ signal: Int32) -> (signal: Int32, action: sigaction)? {
    var old = sigaction()
    unsafe sigaction(signal, nil, &old)
    if signal != SIGINT, isIgnored(old) { return nil }
    var new = sigaction()
    unsafe new.__sigaction_handler.sa_handler = noteSignal
    unsafe sigaction(signal, &new, nil)
    return (signal, old)
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    let handler = unsafe action.__sigaction_handler.sa_handler
    return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
}

/// Where the handler writes; -1 while no prompt is open.
private let signalPipe = Atomic<Int32>(-1)

/// Async-signal-safe: one load and one `write`; errno is kept.
private func noteSignal(_ signal: Int32) {
  let kept = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = kept
}
