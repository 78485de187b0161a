import Glibc
import Synchronization
import VaultKit

/// The signals that end or stop a process. While a prompt is open, each becomes a byte in a pipe.
///
/// With a pipe and `poll`, no signal is missed. Ignored signals stay ignored, with two exceptions: Ctrl-C, because
/// a person can always decline, and SIGTTIN and SIGTTOU, because the background never stops a prompt. Only one
/// prompt of a process is open at a time, because signals and keys have one reader.
///
/// Signals that follow a fault of the program are not handled here, because the program cannot continue after them:
/// `clinux_guard_terminal` handles those.
struct PromptSignals {
  /// Becomes readable when a signal has come.
  let descriptor: Int32
  /// Writing a 0 here ends the prompt: see ``OpenPrompt``.
  let wake: Int32
  private let before: [(signal: Int32, action: sigaction)]

  /// - Parameters:
  ///   - end: Ends the wait for another prompt, when the answer is no longer wanted.
  ///   - waiting: Called once, when another prompt of this process is open.
  /// - Throws: ``TerminalError/noTerminal(_:)`` when no pipe can be made; ``TerminalError/busy`` when another
  ///   prompt of this process stays open for longer than `patience`; ``TerminalError/cancelled``.
  static func take(
    patience: Patience = Patience(longestTurn), until end: PromptEnding? = nil, waiting: () -> Void = {}
  ) throws(TerminalError) -> PromptSignals {
    announceWaitingForPerson()
    let cameBefore = endingSignal.load(ordering: .sequentiallyConsistent)
    guard cameBefore == 0 else { throw .signalled(cameBefore) }
    try waitForTurn(until: Deadline(after: patience), end, waiting: waiting)
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
      descriptor: ends[0], wake: ends[1],
      before: always.compactMap { redirect($0, when: { _ in true }) }
        + ending.compactMap { redirect($0, when: { !isIgnored($0) }) }
        + unhandled.compactMap { redirect($0, when: isDefault) })
  }

  /// Restores what the signals do without a prompt, and sends again those that came too late for the prompt. A
  /// signal that ended the prompt is sent again: at once, or when ``holdingEndingSignal(for:_:)`` ends, after its
  /// seconds at the latest.
  func giveBack() {
    for (signal, action) in before {
      var action = action
      unsafe sigaction(signal, &action, nil)
    }
    signalPipe.store(-1, ordering: .sequentiallyConsistent)
    var late: [Int32] = []
    while let signal = next() { late.append(signal) }
    close(descriptor)
    close(wake)
    let ending = endingSignal.load(ordering: .sequentiallyConsistent)
    isTaken.store(false, ordering: .sequentiallyConsistent)
    for signal in late where ![0, SIGCONT, SIGTTIN, SIGTTOU].contains(signal) { kill(getpid(), signal) }
    guard ending != 0 else { return }
    let seconds = heldSeconds.load(ordering: .sequentiallyConsistent)
    if seconds > 0, Self.send(ending, after: seconds) { return }
    passOn()
  }

  /// The oldest signal that no one has read yet; 0 is a cancellation by another thread.
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

  /// What a signal means for an open prompt.
  enum Meaning {
    /// Ctrl-Z: the prompt stops the process.
    case stop
    /// The process was continued, or used the terminal from the background.
    case wake
  }

  /// - Throws: ``TerminalError/cancelled`` and ``TerminalError/signalled(_:)`` for a signal that ends the prompt.
  func meaning(of signal: Int32) throws(TerminalError) -> Meaning {
    switch signal {
    case SIGINT, 0: throw .cancelled
    case SIGTSTP: return .stop
    case SIGCONT, SIGTTIN, SIGTTOU: return .wake
    default:
      passOnLater(signal)
      throw .signalled(signal)
    }
  }

  /// Waits until `other` can be read, or a signal comes.
  ///
  /// The kernel does not report that the foreground group or the mode of a terminal has changed. So this function
  /// looks at the terminal: soon after the beginning, when a shell may still be about to take it, and later five
  /// times a second.
  ///
  /// - Parameter look: Looks at the terminal, and does so once more when `other` can be read. Returns true when the
  ///   terminal must be set right, as after a signal that continues the process.
  /// - Returns: The meaning of the signal; nil when `other` can be read.
  /// - Throws: What `look`, ``wait(for:_:until:)`` and ``meaning(of:)`` throw.
  func wait(
    for other: Int32, until deadline: Deadline, looking look: () throws(TerminalError) -> Bool
  ) throws(TerminalError) -> Meaning? {
    var pause = Duration.milliseconds(5)
    while true {
      do throws(TerminalError) {
        let next = Deadline.earlier(of: deadline, and: Deadline(after: pause))
        if let signal = try wait(for: other, POLLIN, until: next) { return try meaning(of: signal) }
      } catch {
        guard error == .timedOut, !deadline.hasPassed else { throw error }
        if try look() { return .wake }
        pause = min(pause * 2, .milliseconds(200))
        continue
      }
      return try look() ? .wake : nil
    }
  }

  /// Waits for `duration`, or until a signal comes.
  ///
  /// - Returns: nil when no signal came.
  /// - Throws: What ``meaning(of:)`` throws.
  func pause(_ duration: Duration) throws(TerminalError) -> Meaning? {
    do throws(TerminalError) {
      guard let signal = try wait(for: -1, 0, until: Deadline(after: duration)) else { return nil }
      return try meaning(of: signal)
    } catch .timedOut { return nil }
  }

  /// Keeps a signal that ends the prompt. When the terminal is restored and the signals are given back, the signal
  /// does what it does without a prompt: as a rule, it ends the process.
  private func passOnLater(_ signal: Int32) { endingSignal.store(signal, ordering: .sequentiallyConsistent) }

  /// Sends a signal to this process after some seconds. False where that is not possible.
  private static func send(_ signal: Int32, after seconds: Int) -> Bool {
    var event = unsafe sigevent()
    unsafe event.sigev_notify = Int32(SIGEV_SIGNAL)
    unsafe event.sigev_signo = signal
    var timer: timer_t?
    // The first timer of a process has the number 0, which looks like nil.
    guard unsafe timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 else { return false }
    var time = itimerspec()
    time.it_value.tv_sec = seconds
    return unsafe timer_settime(timer, 0, &time, nil) == 0
  }

  /// How long a prompt waits for the one before it.
  static let longestTurn = Duration.seconds(300)

  private static func waitForTurn(
    until deadline: Deadline, _ end: PromptEnding?, waiting: () -> Void
  ) throws(TerminalError) {
    var isFirst = true
    while isTaken.exchange(true, ordering: .sequentiallyConsistent) {
      if isFirst { waiting() }
      isFirst = false
      if deadline.hasPassed { throw .busy }
      if end?.isEnded == true { throw .cancelled }
      usleep(20_000)
    }
  }

  private static func redirect(
    _ signal: Int32, when isOurs: (sigaction) -> Bool
  ) -> (signal: Int32, action: sigaction)? {
    var old = sigaction()
    guard unsafe sigaction(signal, nil, &old) == 0, isOurs(old) else { return nil }
    var new = sigaction()
    unsafe new.__sigaction_handler.sa_handler = noteSignal
    unsafe sigaction(signal, &new, nil)
    return (signal, old)
  }

  private static func isIgnored(_ action: sigaction) -> Bool { handler(action) == address(SIG_IGN) }

  private static func isDefault(_ action: sigaction) -> Bool { handler(action) == address(SIG_DFL) }

  private static func handler(_ action: sigaction) -> Int {
    unsafe address(action.__sigaction_handler.sa_handler)
  }

  private static func address(_ handler: __sighandler_t?) -> Int {
    unsafe unsafeBitCast(handler, to: Int.self)
  }

  /// Redirected in any case.
  private static let always = [SIGINT, SIGTTIN, SIGTTOU]
  /// Redirected unless they are ignored.
  private static let ending = [SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
  /// Redirected where the program has no handler: all other signals that end a process, and the one that continues
  /// it. The real-time signals begin at 34, because the C library uses two.
  private static let unhandled =
    [
      SIGCONT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR,
      SIGSTKFLT,
    ] + Array(34...64)
}

/// Runs `body`. If a signal ends a prompt in `body`, that signal ends the process only after `body`, so that `body`
/// can log the prompt first.
///
/// - Parameter seconds: How long `body` has for that, because another process may hold the vault.
package func holdingEndingSignal<R>(for seconds: Int, _ body: () throws -> R) rethrows -> R {
  heldSeconds.store(seconds, ordering: .sequentiallyConsistent)
  defer {
    heldSeconds.store(0, ordering: .sequentiallyConsistent)
    passOn()
  }
  return try body()
}

/// Whether a signal has ended a prompt, and ends the process when ``holdingEndingSignal(for:_:)`` does.
package var isPromptEnded: Bool { endingSignal.load(ordering: .sequentiallyConsistent) != 0 }

/// Has `body` called before each wait for a person, while signals still do what they do without a prompt.
package func beforeWaitingForPerson(_ body: @escaping @Sendable () -> Void) {
  beforeWaiting.withLock { $0 = body }
}

/// Called where a person is about to be asked.
func announceWaitingForPerson() {
  let body = beforeWaiting.withLock { $0 }
  body?()
}

private let beforeWaiting = Mutex<(@Sendable () -> Void)?>(nil)

/// Sends the signal that ended a prompt again, so that it does what it does without a prompt.
private func passOn() {
  let ending = endingSignal.exchange(0, ordering: .sequentiallyConsistent)
  if ending != 0 { kill(getpid(), ending) }
}

/// The seconds of ``holdingEndingSignal(for:_:)`` while it runs; 0 while it does not.
private let heldSeconds = Atomic<Int>(0)

/// Whether a prompt of this process is open.
private let isTaken = Atomic<Bool>(false)

/// The signal that ended the open prompt; 0 if none did.
private let endingSignal = Atomic<Int32>(0)

/// Where the handler writes; -1 while no prompt is open.
private let signalPipe = Atomic<Int32>(-1)

/// Async-signal-safe: one load and one `write`. It keeps errno.
private func noteSignal(_ signal: Int32) {
  let kept = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = kept
}
