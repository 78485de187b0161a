import CLinux
import CommandLineKit
import Glibc
import Synchronization

/// The signals that end a command, while its verb runs in the agent: each becomes a byte in a pipe. While a prompt is open, the
/// prompt has them. Ignored signals stay ignored.
final class AgentSignals {
  /// Becomes readable when a signal has come.
  let descriptor: Int32
  private let writing: Int32
  private var before: [(number: Int32, action: sigaction)]

  /// - Parameter ofProcess: False in tests, which have signals of their own: then none comes.
  init(ofProcess: Bool) throws(CommandError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .io("making a pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (descriptor, writing) = (ends[0], ends[1])
    guard ofProcess else {
      before = []
      return
    }
    pipeOfSignals.store(writing, ordering: .sequentiallyConsistent)
    before = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !ThisProcess.isIgnored($0) }.map(Self.redirect)
  }

  deinit {
    giveBack()
    close(descriptor)
    close(writing)
  }

  /// Signals do again what they did before.
  func giveBack() {
    guard !before.isEmpty else { return }
    for (number, action) in before {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
    before = []
    pipeOfSignals.store(-1, ordering: .sequentiallyConsistent)
  }

  /// The oldest signal that was not read yet.
  func next() -> Int32? { Self.next(from: descriptor) }

  /// The same, by the descriptor of a value.
  static func next(from descriptor: Int32) -> Int32? {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// Whether a descriptor is one of this value.
  func has(_ number: Int32) -> Bool { number == descriptor || number == writing }

  private static func redirect(_ number: Int32) -> (number: Int32, action: sigaction) {
    var (old, new) = (sigaction(), sigaction())
    unsafe new.__sigaction_handler.sa_handler = noteSignal
    unsafe sigaction(number, &new, &old)
    return (number, old)
  }
}

/// Where the handler writes; -1 while signals do what they did before.
private let pipeOfSignals = Atomic<Int32>(-1)

/// Async-signal-safe: one load and one `write`. It keeps errno.
private func noteSignal(_ signal: Int32) {
  let kept = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  _ = unsafe write(pipeOfSignals.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = kept
}
