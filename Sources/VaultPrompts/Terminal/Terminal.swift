import Glibc
package import SecretMemory

/// A terminal that is opened by its name, so that standard input and output stay data.
///
/// One prompt is open on it at a time, of all processes of a user, and only in the foreground: ``TerminalTurn``. Echo is
/// off only while a secret is typed, and back on after it however the prompt ends: an answer, Ctrl-C, a signal that ends
/// the process, nobody there, and for as long as Ctrl-Z stops it.
package struct Terminal: ~Copyable {
  private let descriptor: Int32

  /// - Parameter path: `/dev/tty` is the terminal that controls this process.
  /// - Throws: ``TerminalError/noTerminal(_:)``.
  package init(path: String = "/dev/tty") throws(TerminalError) {
    let opened = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard opened >= 0 else { throw .noTerminal(errno) }
    guard isatty(opened) == 1 else {
      close(opened)
      throw .noTerminal(ENOTTY)
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// One line typed with echo, without its newline: what a person may see.
  ///
  /// - Parameters:
  ///   - text: What is asked; what does not show as itself is escaped.
  ///   - limit: The most bytes that may be typed, up to ``longestLine``.
  ///   - show: Shows what belongs above the question, once no other prompt is open on the terminal.
  package borrowing func readLine(
    _ text: String, limit: Int, after show: (borrowing Terminal) throws(TerminalError) -> Void
  ) throws(TerminalError) -> SecretBytes {
    try ask(
      Asking(lines: [], question: PromptText.visible(text), limit: limit, echoes: true), after: show)
  }

  /// Whether the process may ask on it.
  package var isInForeground: Bool { JobControl.isInForeground(of: descriptor) }

  /// Why nobody can be asked on a terminal; nil when a prompt can be shown.
  package static func obstacle(at path: String) -> TerminalError? {
    do throws(TerminalError) {
      let terminal = try Terminal(path: path)
      guard terminal.isInForeground else { return .background }
      return try TerminalTurn.canBegin(on: terminal.descriptor) ? nil : .inUse
    } catch { return error }
  }

  /// Shows text on the terminal, with nothing after it; what does not show as itself is escaped.
  package borrowing func show(_ text: String) { _ = writeAll(PromptText.visible(text)) }

  /// Shows a line of text; what does not show as itself is escaped.
  ///
  /// - Throws: ``TerminalError/noTerminal(_:)`` where the terminal does not take it.
  package borrowing func showLine(_ text: String) throws(TerminalError) {
    guard writeAll(PromptText.visible(text) + "\n") else { throw .noTerminal(EIO) }
  }

  /// Shows a secret of printable characters, with nothing after it.
  ///
  /// - Throws: ``TerminalError/noTerminal(_:)`` where the terminal does not take it.
  package borrowing func show(_ secret: borrowing SecretBytes) throws(TerminalError) {
    guard secret.expose({ writeAll($0) }) else { throw .noTerminal(EIO) }
  }

  /// The kernel's line buffer ends at 4,095 bytes; what is typed beyond it is lost.
  package static var longestLine: Int { 4000 }
}

extension Terminal {
  /// One question and how it is asked.
  struct Asking {
    /// Shown above the question; whoever makes them has made them visible.
    var lines: [String]
    var question: String
    var limit: Int
    var echoes: Bool
    /// How long a person may take.
    var patience = PromptSignals.longestTurn
    /// Through which another thread ends it.
    var open: OpenPrompt?

    var text: String { lines.map { $0 + "\n" }.joined() + question }
  }

  /// One line, without its newline.
  ///
  /// - Parameter show: Shows what belongs above the question.
  borrowing func ask(
    _ asking: Asking, after show: (borrowing Terminal) throws(TerminalError) -> Void = { _ in }
  ) throws(TerminalError) -> SecretBytes {
    let signals = try PromptSignals.take(patience: asking.patience) { sayWaiting() }
    defer { signals.giveBack() }
    asking.open?.open(signals.wake)
    defer { asking.open?.close() }
    let held = HeldJobSignals()
    defer { held.restore() }
    var turn = try TerminalTurn(on: descriptor, signals: signals, patience: asking.patience) { sayWaiting() }
    defer { turn.end() }
    try turn.beginTyping(echoes: asking.echoes)
    try show(self)
    guard writeAll(asking.text) else { throw .noTerminal(EIO) }
    defer { if !asking.echoes, isInForeground { _ = writeAll("\n") } }
    return try readLine(asking, signals: signals, turn: &turn)
  }

  /// Says that another prompt is open, whose question ends without a newline.
  borrowing func sayWaiting() {
    guard isInForeground else { return }
    _ = writeAll("\nAnother prompt is open: this one waits for its end, at most 300 s.\n")
  }

  private borrowing func readLine(
    _ asking: Asking, signals: PromptSignals, turn: inout TerminalTurn
  ) throws(TerminalError) -> SecretBytes {
    // Two bytes more: the newline, and one that shows a longer line to be longer.
    let line = try SecretBytes(capacity: asking.limit + 2) { output throws(TerminalError) in
      while output.freeCapacity > 0 {
        try waitForInput(asking, signals: signals, turn: &turn)
        if try readSome(&output) { return }
      }
    }
    guard line.byteCount <= asking.limit + 1 else { throw .tooLong(limit: asking.limit) }
    return line.expose { bytes in SecretBytes(copying: bytes.extracting(0..<bytes.byteCount - 1)) }
  }

  /// Appends what can be read now; true at the end of the line.
  private borrowing func readSome(_ output: inout OutputRawSpan) throws(TerminalError) -> Bool {
    var got = 0
    var isComplete = false
    unsafe output.withUnsafeMutableBytes { bytes, count in
      got = unsafe read(descriptor, bytes.baseAddress! + count, bytes.count - count)
      guard got > 0 else { return }
      count += got
      isComplete = unsafe bytes[count - 1] == UInt8(ascii: "\n")
    }
    let problem = errno
    if got < 0, problem == EINTR || problem == EAGAIN { return false }
    if got < 0, problem == EIO { try JobControl.requireForeground(of: descriptor) }
    guard got > 0 else { throw .cancelled }
    return isComplete
  }

  /// Waits until a byte can be read, answering signals meanwhile.
  private borrowing func waitForInput(
    _ asking: Asking, signals: PromptSignals, turn: inout TerminalTurn
  ) throws(TerminalError) {
    var deadline = Deadline(after: asking.patience)
    while true {
      let meaning = try signals.wait(for: descriptor, until: deadline) { () throws(TerminalError) in
        try turn.isChanged()
      }
      switch meaning {
      case nil: return
      case .stop: try turn.stop { sayWaiting() }
      case .wake: guard try turn.wake() else { continue }
      }
      _ = writeAll(asking.text)
      deadline = Deadline(after: asking.patience)
    }
  }

  /// False when the terminal takes nothing for a while: it is stopped (Ctrl-S), or gone.
  private borrowing func writeAll(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return writeAll(unsafe bytes.span.bytes)
  }

  private borrowing func writeAll(_ bytes: RawSpan) -> Bool {
    var rest = bytes
    let deadline = Deadline(after: Self.longestWrite)
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.extracting(written..<rest.byteCount)
      } else if written < 0, errno == EINTR || errno == EAGAIN, !deadline.hasPassed {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&wait, 1, deadline.milliseconds)
      } else {
        return false
      }
    }
    return true
  }

  private static let longestWrite = Duration.seconds(4)
}
