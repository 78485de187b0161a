import Glibc
import Synchronization

/// The signals that end or stop a process, turned into bytes of a pipe while a prompt is open.
///
/// A pipe and `poll` leave no moment in which a signal is missed. Signals that were ignored stay ignored,
/// but for Ctrl-C: whoever is asked can always decline. One prompt of a process is open at a time: signals and
/// keys have one reader.
struct PromptSignals {
  /// Becomes readable when a signal has come.
  let descriptor: Int32
  /// A 0 written here ends the prompt: see ``OpenPrompt``.
  let wake: Int32
  private let before: [(signal: Int32, action: sigaction)]

  /// - Throws: ``TerminalError/noTerminal(_:)`` when no pipe can be had, ``TerminalError/timedOut`` when another
  ///   prompt of this process stays open for longer than `patience`.
  static func take(patience: Duration = longestTurn) throws(TerminalError) -> PromptSignals {
    try waitForTurn(Deadline(after: patience))
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else {
      let code = errno
      isTaken.store(false, ordering: .sequentiallyConsistent)
      throw .noTerminal(code)
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
    return PromptSignals(
      descriptor: ends[0], wake: ends[1], before: watched.compactMap { redirect($0) })
  }

  /// The signals do again what they did before.
  func giveBack() {
    for (signal, action) in before {
      var action = action
      unsafe sigaction(signal, &action, nil)
    }
    signalPipe.store(-1, ordering: .sequentiallyConsistent)
    close(descriptor)
    close(wake)
    let ending = endingSignal.exchange(0, ordering: .sequentiallyConsistent)
    isTaken.store(false, ordering: .sequentiallyConsistent)
    if ending != 0 { kill(getpid(), ending) }
  }

  /// The oldest signal that came and was not answered; 0 is a cancellation by another thread.
  func next() -> Int32? {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// Waits until something happens to `other` or a signal comes.
  ///
  /// - Returns: The signal; nil when `other` is ready or broken.
  /// - Throws: ``TerminalError/timedOut`` at the deadline, ``TerminalError/noTerminal(_:)``.
  func wait(for other: Int32, _ events: Int32, until deadline: Deadline) throws(TerminalError) -> Int32? {
    while true {
      var waits = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(events), revents: 0),
      ]
      let ready = unsafe poll(&waits, 2, deadline.milliseconds)
      if ready < 0, errno != EINTR { throw .noTerminal(errno) }
      if let signal = next() { return signal }
      if ready > 0, waits[1].revents != 0 { return nil }
      if deadline.hasPassed { throw .timedOut }
    }
  }

  /// A signal that ends the prompt does, once the terminal is as before and the signals are given back, what it does
  /// without a prompt: ends the process, as a rule.
  func passOnLater(_ signal: Int32) { endingSignal.store(signal, ordering: .sequentiallyConsistent) }

  /// How long a person may take for the prompt before this one.
  static let longestTurn = Duration.seconds(300)

  private static func waitForTurn(_ deadline: Deadline) throws(TerminalError) {
    while isTaken.exchange(true, ordering: .sequentiallyConsistent) {
      if deadline.hasPassed { throw .timedOut }
      usleep(20_000)
    }
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

/// Whether a prompt of this process is open.
private let isTaken = Atomic<Bool>(false)

/// The signal that ended the prompt that is open, if one did.
private let endingSignal = Atomic<Int32>(0)

/// Where the handler writes; -1 while no prompt is open.
private let signalPipe = Atomic<Int32>(-1)

/// Async-signal-safe: one load and one `write`; errno is kept.
private func noteSignal(_ signal: Int32) {
  let kept = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = kept
}
