import CLinux
import Glibc

/// One prompt's turn on a terminal: it holds the terminal's lock, and changes its mode while a line is typed.
///
/// The lock excludes the prompts of all processes of this user. A prompt that was killed leaves its record in the lock's
/// file; the next turn restores the mode from it.
struct TerminalTurn: ~Copyable {
  private let terminal: Int32
  private let signals: PromptSignals
  private let patience: Duration
  private var lock: TerminalLock
  /// The mode outside the prompt.
  private(set) var before: TerminalMode
  /// The mode that the prompt has set; nil while it is ``before``.
  private var during: TerminalMode?
  /// It was stopped and goes on; SIGCONT has still to be read from the pipe.
  private var isContinued = false
  /// Another program asks, under this lock: a pinentry, which sets the mode itself, also when it is continued.
  private var isAnothers = false

  /// Waits until no other prompt is open on the terminal.
  ///
  /// - Parameters:
  ///   - patience: Waits no longer than this, and no longer than 300 s.
  ///   - waiting: Called once, when another prompt is open.
  /// - Throws: ``TerminalError/background``, ``TerminalError/inUse``, ``TerminalError/busy``, ``TerminalError/noLock(_:)``, or
  ///   what a signal means.
  init(
    on terminal: Int32, signals: PromptSignals, patience: Duration, waiting: () -> Void
  ) throws(TerminalError) {
    let lock = try Self.lock(terminal, signals: signals, patience: patience, waiting: waiting)
    before = try Self.mode(outside: terminal)
    self.lock = lock
    (self.terminal, self.signals, self.patience) = (terminal, signals, patience)
  }

  /// Sets the mode in which a line is typed; what was typed before is dropped.
  mutating func beginTyping(echoes: Bool) throws(TerminalError) {
    try set(before.typing(echoes: echoes))
    guard try TerminalMode(of: terminal).echoes == echoes else { throw .noTerminal(EIO) }
  }

  /// Restores the mode and releases the lock.
  mutating func end() {
    restore()
    lock.release()
  }

  /// Stops the process as Ctrl-Z does, with the mode restored and the lock released. When it is continued in the
  /// foreground, it takes both again.
  mutating func stop(waiting: () -> Void) throws(TerminalError) {
    let typing = during
    end()
    JobControl.stop()
    isContinued = true
    lock = try Self.lock(terminal, signals: signals, patience: patience, waiting: waiting)
    guard !isAnothers else {
      if let typing { try set(typing) }
      return
    }
    before = try Self.mode(outside: terminal)
    if let typing { try set(before.typing(echoes: typing.echoes)) }
  }

  /// Another program is about to ask, under this lock. From now on the record has its place on the disk, which it keeps
  /// when its content changes.
  mutating func prepareRecord() throws(TerminalError) {
    isAnothers = true
    if during == nil { try writeRecord(before) }
  }

  /// Another program asks, under this lock: its mode is what the prompt has set.
  mutating func noteMode() throws(TerminalError) {
    try JobControl.requireForeground(of: terminal)
    guard let now = try? TerminalMode(of: terminal), now != before, now != during else { return }
    during = now
    try writeRecord(now)
  }

  /// Another program has changed the mode that the prompt set, so that what is typed may show.
  borrowing func isChanged() throws(TerminalError) -> Bool {
    try JobControl.requireForeground(of: terminal)
    guard let during, let now = try? TerminalMode(of: terminal) else { return false }
    return now != during
  }

  /// SIGSTOP may have stopped the process, and another may have changed the mode before it was continued, or meanwhile.
  ///
  /// - Returns: Whether the question has to be shown again.
  mutating func wake() throws(TerminalError) -> Bool {
    try JobControl.requireForeground(of: terminal)
    // The first signal after ``stop(waiting:)`` is the one that ended it.
    let isKnown = isContinued
    isContinued = false
    guard let typing = during, let now = try? TerminalMode(of: terminal), now != typing else {
      return !isKnown
    }
    guard now.isLineByLine else { throw .inUse }
    before = before.taking(changesFrom: typing, to: now)
    try beginTyping(echoes: typing.echoes)
    return true
  }

  /// Whether a prompt can ask, at once or after another one: false where another program reads from the terminal.
  static func canBegin(on terminal: Int32) throws(TerminalError) -> Bool {
    let mode = try TerminalMode(of: terminal)
    guard !mode.isLineByLine else { return true }
    var lock = try TerminalLock(of: terminal)
    guard try lock.take() else { return true }
    // What a prompt that was killed left, the next one sets right.
    return lock.record()?.describes(terminal, in: mode) ?? false
  }

  /// The longest wait for another prompt.
  static let longestWait = Duration.seconds(300)
}

extension TerminalTurn {
  private mutating func set(_ mode: TerminalMode) throws(TerminalError) {
    try JobControl.requireForeground(of: terminal)
    try writeRecord(mode)
    during = mode
    try Self.set(mode, on: terminal)
    tcflush(terminal, TCIFLUSH)
    // What the terminal has made of it.
    let now = try TerminalMode(of: terminal)
    guard now != mode else { return }
    during = now
    try writeRecord(now)
  }

  /// The mode of before. What was typed and not read is dropped: it was typed at this prompt, and a shell would show it,
  /// or run the rest of a line that was too long.
  private mutating func restore() {
    // In the background the terminal is another's, unless nobody has changed the mode since. A line editor that has
    // changed it restores it itself.
    if let mode = during, let now = try? TerminalMode(of: terminal),
      now == mode || now.isLineByLine && JobControl.isInForeground(of: terminal)
    {
      while before.set(on: terminal) == EINTR {}
      tcflush(terminal, TCIFLUSH)
    }
    clinux_release_terminal()
    lock.empty()
    during = nil
  }

  /// What puts the mode right when the process is killed, and when it crashes. Without it nobody is asked.
  private borrowing func writeRecord(_ mode: TerminalMode) throws(TerminalError) {
    try lock.write(TerminalRecord(of: terminal, before: before, during: mode))
    var (before, during) = (before.flags, mode.flags)
    unsafe clinux_guard_terminal(terminal, &before, &during)
  }

  /// - Throws: ``TerminalError/inUse``: a line editor or a program that fills the screen reads what is typed, and shows it.
  private static func mode(outside terminal: Int32) throws(TerminalError) -> TerminalMode {
    let mode = try TerminalMode(of: terminal)
    guard mode.isLineByLine else { throw .inUse }
    return mode
  }

  private static func lock(
    _ terminal: Int32, signals: PromptSignals, patience: Duration, waiting: () -> Void
  ) throws(TerminalError) -> TerminalLock {
    try JobControl.requireForeground(of: terminal)
    var lock = try TerminalLock(of: terminal)
    let deadline = Deadline(after: min(patience, longestWait))
    var isFirst = true
    while try !lock.take() {
      if isFirst { waiting() }
      isFirst = false
      guard !deadline.hasPassed else { throw .busy }
      // What ends a prompt ends the wait for it.
      if try signals.pause(.milliseconds(20)) == .stop { JobControl.stop() }
      try JobControl.requireForeground(of: terminal)
    }
    try JobControl.requireForeground(of: terminal)
    try setRight(terminal, under: lock)
    return lock
  }

  /// Restores the mode that a prompt which was killed left changed, when it is certain that nobody has changed it since.
  private static func setRight(
    _ terminal: Int32, under lock: borrowing TerminalLock
  ) throws(TerminalError) {
    if let record = lock.record(), record.describes(terminal, in: try TerminalMode(of: terminal)) {
      try set(record.before, on: terminal)
    }
    lock.empty()
  }

  /// Sets a mode from the foreground alone.
  private static func set(_ mode: TerminalMode, on terminal: Int32) throws(TerminalError) {
    while true {
      let problem = JobControl.refusingBackground { mode.set(on: terminal) }
      if problem == 0 { return }
      try JobControl.requireForeground(of: terminal)
      guard problem == EINTR else { throw .noTerminal(problem) }
    }
  }
}
