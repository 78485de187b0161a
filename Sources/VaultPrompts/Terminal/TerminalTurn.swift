import CLinux
import Glibc
import SecretMemory

/// The turn of one prompt on a terminal: it holds the lock of the terminal, and changes its mode while a line is
/// typed.
///
/// The lock excludes the prompts of all processes of this user. A prompt that was killed leaves a record in the
/// file of the lock. The next turn restores the mode from that record.
struct TerminalTurn: ~Copyable {
  private let terminal: Int32
  private let signals: PromptSignals
  private let patience: Patience
  private var lock: TerminalLock
  /// The mode outside the prompt.
  private(set) var before: TerminalMode
  /// The mode that the prompt has set; nil while the terminal is in ``before``.
  private var during: TerminalMode?
  /// The prompt was stopped and continued. SIGCONT is still unread in the pipe.
  private var isContinued = false
  /// A pinentry asks under this lock. It sets the mode itself, also when it is continued.
  private var isAnothers = false

  /// Waits until no other prompt is open on the terminal.
  ///
  /// - Parameters:
  ///   - patience: The longest wait; at most 300 s.
  ///   - waiting: Called once, when another prompt is open.
  /// - Throws: ``TerminalError/background``, ``TerminalError/inUse``, ``TerminalError/busy``,
  ///   ``TerminalError/noLock(_:)``, or the meaning of a signal.
  init(
    on terminal: Int32, signals: PromptSignals, patience: Patience, waiting: () -> Void
  ) throws(TerminalError) {
    let lock = try Self.lock(terminal, signals: signals, patience: patience, waiting: waiting)
    before = try Self.mode(outside: terminal)
    self.lock = lock
    (self.terminal, self.signals, self.patience) = (terminal, signals, patience)
  }

  /// Sets the mode in which a line is typed. Discards what was typed before, unless it is kept.
  mutating func beginTyping(echoes: Bool, keepingInput: Bool = false) throws(TerminalError) {
    try set(before.typing(echoes: echoes), keepingInput: keepingInput)
    guard try TerminalMode(of: terminal).echoes == echoes else { throw .noTerminal(EIO) }
  }

  /// Takes what has arrived after the line that was read, also if it is not a whole line.
  ///
  /// The kernel changes the mode only between two portions of input, so what arrived together with the line is there.
  ///
  /// - Returns: At most `limit` + 1 bytes.
  mutating func takeRest(limit: Int) throws(TerminalError) -> SecretBytes {
    guard let typing = during else { return SecretBytes(zeroes: 0) }
    try set(typing.byCharacter, keepingInput: true)
    let terminal = terminal
    return SecretBytes(capacity: limit + 1) { output in
      var wait = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      while output.freeCapacity > 0, unsafe poll(&wait, 1, 0) > 0 {
        var got = 0
        unsafe output.withUnsafeMutableBytes { bytes, count in
          got = unsafe read(terminal, bytes.baseAddress! + count, bytes.count - count)
          count += max(got, 0)
        }
        guard got > 0 else { return }
      }
    }
  }

  /// Discards what is still on its way, because the shell would run it: a long paste comes in portions, each when there is room
  /// for it. Ends when nothing has come for a moment, and after two seconds.
  borrowing func discardPaste() {
    var wait = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    for _ in 0..<40 {
      tcflush(terminal, TCIFLUSH)
      guard unsafe poll(&wait, 1, 50) > 0 else { return }
    }
  }

  /// Restores the mode and releases the lock.
  mutating func end() {
    restore()
    lock.release()
  }

  /// Restores the mode, releases the lock, and stops the process as Ctrl-Z does. When the process is continued in
  /// the foreground, it takes both again.
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

  /// A pinentry is about to ask under this lock. From now on the record occupies its place on the disk, and keeps
  /// it when its content changes.
  mutating func prepareRecord() throws(TerminalError) {
    isAnothers = true
    if during == nil { try writeRecord(before) }
  }

  /// A pinentry asks under this lock: its mode becomes the mode that the prompt has set.
  mutating func noteMode() throws(TerminalError) {
    try JobControl.requireForeground(of: terminal)
    guard let now = try? TerminalMode(of: terminal), now != before, now != during else { return }
    during = now
    try writeRecord(now)
  }

  /// Whether another program has changed the mode that the prompt set, so that what is typed may show.
  borrowing func isChanged() throws(TerminalError) -> Bool {
    try JobControl.requireForeground(of: terminal)
    guard let during, let now = try? TerminalMode(of: terminal) else { return false }
    return now != during
  }

  /// Sets the mode right after the process was continued. SIGSTOP may have stopped the process, and another program
  /// may have changed the mode meanwhile.
  ///
  /// - Returns: Whether the question must be shown again.
  mutating func wake() throws(TerminalError) -> Bool {
    try JobControl.requireForeground(of: terminal)
    // The first signal after ``stop(waiting:)`` is the one that ended the stop.
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

  /// Whether a prompt can ask, at once or after another prompt: false where another program reads from the
  /// terminal.
  static func canBegin(on terminal: Int32) throws(TerminalError) -> Bool {
    let mode = try TerminalMode(of: terminal)
    guard !mode.isLineByLine else { return true }
    var lock = try TerminalLock(of: terminal)
    guard try lock.take() else { return true }
    // The next prompt repairs what a killed prompt left.
    return lock.record()?.describes(terminal, in: mode) ?? false
  }

  /// The longest wait for another prompt.
  static let longestWait = Duration.seconds(300)
}

extension TerminalTurn {
  private mutating func set(_ mode: TerminalMode, keepingInput: Bool = false) throws(TerminalError) {
    try JobControl.requireForeground(of: terminal)
    try writeRecord(mode)
    during = mode
    try Self.set(mode, on: terminal)
    if !keepingInput { tcflush(terminal, TCIFLUSH) }
    // The mode that the terminal has made of it.
    let now = try TerminalMode(of: terminal)
    guard now != mode else { return }
    during = now
    try writeRecord(now)
  }

  /// Restores the mode from before the prompt, and discards what was typed and not read. That was typed at this
  /// prompt: a shell would show it, or run the rest of a line that was too long.
  private mutating func restore() {
    // In the background, the terminal belongs to another program, unless its mode is still ours. A line editor that
    // has changed the mode restores it itself.
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

  /// Records how to restore the mode if the process is killed or crashes. Without this record, no question is
  /// asked.
  private borrowing func writeRecord(_ mode: TerminalMode) throws(TerminalError) {
    try lock.write(TerminalRecord(of: terminal, before: before, during: mode))
    var (before, during) = (before.flags, mode.flags)
    unsafe clinux_guard_terminal(terminal, &before, &during)
  }

  /// - Throws: ``TerminalError/inUse``: a line editor or a full-screen program reads what is typed, and shows it.
  private static func mode(outside terminal: Int32) throws(TerminalError) -> TerminalMode {
    let mode = try TerminalMode(of: terminal)
    guard mode.isLineByLine else { throw .inUse }
    return mode
  }

  private static func lock(
    _ terminal: Int32, signals: PromptSignals, patience: Patience, waiting: () -> Void
  ) throws(TerminalError) -> TerminalLock {
    try JobControl.requireForeground(of: terminal)
    var lock = try TerminalLock(of: terminal)
    let deadline = Deadline(after: patience.limited(to: longestWait))
    var isFirst = true
    while try !lock.take() {
      if isFirst { waiting() }
      isFirst = false
      guard !deadline.hasPassed else { throw .busy }
      // A signal that ends a prompt ends the wait for it too.
      if try signals.pause(.milliseconds(20)) == .stop { JobControl.stop() }
      try JobControl.requireForeground(of: terminal)
    }
    try JobControl.requireForeground(of: terminal)
    try setRight(terminal, under: lock)
    return lock
  }

  /// Restores the mode that a killed prompt changed, when it is certain that no program has changed it since.
  private static func setRight(
    _ terminal: Int32, under lock: borrowing TerminalLock
  ) throws(TerminalError) {
    if let record = lock.record(), record.describes(terminal, in: try TerminalMode(of: terminal)) {
      try set(record.before, on: terminal)
    }
    lock.empty()
  }

  /// Sets a mode, from the foreground only.
  private static func set(_ mode: TerminalMode, on terminal: Int32) throws(TerminalError) {
    while true {
      let problem = JobControl.refusingBackground { mode.set(on: terminal) }
      if problem == 0 { return }
      try JobControl.requireForeground(of: terminal)
      guard problem == EINTR else { throw .noTerminal(problem) }
    }
  }
}
