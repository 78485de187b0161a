import Glibc
package import SecretMemory
import VaultKit

/// A terminal that is opened by its name, so that standard input and output stay free for data.
///
/// Of all processes of a user, one prompt at a time is open on a terminal, and only in the foreground:
/// ``TerminalTurn``. Echo is off only while a secret is typed. It is on again after the prompt, however the prompt
/// ends, and while Ctrl-Z stops the process.
package struct Terminal: ~Copyable {
  private let descriptor: Int32
  private let now: Now

  /// - Parameter path: `/dev/tty` is the terminal that controls this process.
  /// - Throws: ``TerminalError/noTerminal(_:)``.
  package init(
    path: String = "/dev/tty", by now: @escaping Now = { ContinuousClock.now }
  ) throws(TerminalError) {
    let opened = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard opened >= 0 else { throw .noTerminal(errno) }
    guard isatty(opened) == 1 else {
      close(opened)
      throw .noTerminal(ENOTTY)
    }
    (descriptor, self.now) = (opened, now)
  }

  deinit { close(descriptor) }

  /// Reads a line that the person types with echo. Returns it without its newline.
  ///
  /// - Parameters:
  ///   - text: The question. Characters that do not show as themselves are escaped.
  ///   - limit: The most bytes that may be typed, up to ``longestLine``.
  ///   - show: Shows what belongs above the question, once no other prompt is open on the terminal.
  package borrowing func readLine(
    _ text: String, limit: Int, after show: (borrowing Terminal) throws(TerminalError) -> Void
  ) throws(TerminalError) -> SecretBytes {
    try ask(
      Asking(lines: [], question: PromptText.visible(text), limit: limit, echoes: true), after: show)
  }

  /// Whether this process is in the foreground of the terminal.
  package var isInForeground: Bool { JobControl.isInForeground(of: descriptor) }

  /// Its rows and columns; 24 and 80 where it does not say.
  package var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
      return (24, 80)
    }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Why no prompt can be shown on a terminal; nil when one can.
  package static func obstacle(at path: String) -> TerminalError? {
    do throws(TerminalError) {
      let terminal = try Terminal(path: path)
      guard terminal.isInForeground else { return .background }
      return try TerminalTurn.canBegin(on: terminal.descriptor) ? nil : .inUse
    } catch { return error }
  }

  /// Shows text without a newline. Characters that do not show as themselves are escaped.
  package borrowing func show(_ text: String) { _ = writeAll(PromptText.visible(text)) }

  /// Shows a line of text. Characters that do not show as themselves are escaped.
  ///
  /// - Throws: ``TerminalError/noTerminal(_:)`` where the terminal does not take it.
  package borrowing func showLine(_ text: String) throws(TerminalError) {
    guard writeAll(PromptText.visible(text) + "\n") else { throw .noTerminal(EIO) }
  }

  /// Shows a secret of printable characters, without a newline.
  ///
  /// - Throws: ``TerminalError/noTerminal(_:)`` where the terminal does not take it.
  package borrowing func show(_ secret: borrowing SecretBytes) throws(TerminalError) {
    guard secret.expose({ writeAll($0) }) else { throw .noTerminal(EIO) }
  }

  /// The most bytes of a line. The line buffer of the kernel ends at 4,095 bytes; what is typed beyond is lost.
  package static var longestLine: Int { 4000 }
}

extension Terminal {
  /// One question and how it is asked.
  struct Asking {
    /// Shown above the question. They are already escaped.
    var lines: [String]
    var question: String
    var limit: Int
    var echoes: Bool
    var turn = Turn.other
    /// How long a person may take.
    var patience = Patience(PromptSignals.longestTurn)
    /// Lets another thread end the prompt.
    var open: OpenPrompt?
    /// Ends the prompt when its answer is no longer wanted.
    var ending: PromptEnding?
    /// The questions of this terminal that ended early; nil where none can be for another program than the next one.
    var cuts: CutQuestions?

    /// What the line is for.
    enum Turn {
      /// A secret: what follows its line refuses it.
      case secret
      /// The same secret again: what arrived since the first line is a part of this answer.
      case repeated
      case other
    }

    var text: String { lines.map { $0 + "\n" }.joined() + question }
  }

  /// Asks the question and reads one line, without its newline.
  ///
  /// If the question before it was cut (``CutQuestions``), it is shown once the person has pressed Enter.
  ///
  /// - Parameter show: Shows what belongs above the question.
  borrowing func ask(
    _ asking: Asking, after show: (borrowing Terminal) throws(TerminalError) -> Void = { _ in }
  ) throws(TerminalError) -> SecretBytes {
    let signals = try PromptSignals.take(patience: asking.patience, until: asking.ending) {
      sayWaiting(asking)
    }
    defer { signals.giveBack() }
    asking.open?.open(signals.wake)
    defer { asking.open?.close() }
    let watch = RequestWatch(asking.ending, waking: signals.wake)
    defer { watch.stop() }
    let held = HeldJobSignals()
    defer { held.restore() }
    var turn = try TerminalTurn(on: descriptor, signals: signals, patience: asking.patience) {
      sayWaiting(asking)
    }
    defer { turn.end() }
    do throws(TerminalError) {
      let hasPaused = try pauseAfterCut(asking, signals: signals, turn: &turn)
      try turn.beginTyping(
        echoes: asking.echoes, keepingInput: asking.turn == .repeated && !hasPaused)
      try show(self)
      return try readAnswer(asking, signals: signals, turn: &turn)
    } catch {
      // Before the turn ends: the next question looks after that.
      if error.isCut || asking.ending?.isEnded == true { asking.cuts?.note() }
      throw error
    }
  }

  /// Has the person press Enter if a question before this one was cut. What they type until then was meant for that one.
  ///
  /// - Returns: Whether they had to.
  private borrowing func pauseAfterCut(
    _ asking: Asking, signals: PromptSignals, turn: inout TerminalTurn
  ) throws(TerminalError) -> Bool {
    guard let cuts = asking.cuts, cuts.isNoted else { return false }
    var pause = asking
    (pause.lines, pause.question) = ([], Self.afterCut)
    (pause.limit, pause.echoes, pause.turn) = (Self.longestLine, false, .other)
    try turn.beginTyping(echoes: false)
    _ = try readAnswer(pause, signals: signals, turn: &turn)
    cuts.forget()
    return true
  }

  private static let afterCut = "What was asked before this is over. Press Enter to see the next question: "

  /// Shows the question and reads its line.
  private borrowing func readAnswer(
    _ asking: Asking, signals: PromptSignals, turn: inout TerminalTurn
  ) throws(TerminalError) -> SecretBytes {
    guard writeAll(asking.text) else { throw .noTerminal(EIO) }
    // The terminal has shown the newline of a line that it echoes. What follows a question without a line begins one of its own.
    var endsLine = !asking.echoes
    defer { if endsLine, isInForeground { _ = writeAll("\n") } }
    do throws(TerminalError) { return try readLine(asking, signals: signals, turn: &turn) } catch {
      if !error.followsLine { endsLine = true }
      throw error
    }
  }

  private borrowing func sayWaiting(_ asking: Asking) { if asking.cuts == nil { sayWaiting() } }

  /// Says that another prompt is open. The question of that prompt ends without a newline.
  borrowing func sayWaiting() {
    guard isInForeground else { return }
    _ = writeAll("\nAnother prompt is open: this one waits for its end, at most 300 s.\n")
  }

  private borrowing func readLine(
    _ asking: Asking, signals: PromptSignals, turn: inout TerminalTurn
  ) throws(TerminalError) -> SecretBytes {
    // Two bytes more: the newline, and one that reveals a longer line.
    let line = try SecretBytes(capacity: asking.limit + 2) { output throws(TerminalError) in
      while output.freeCapacity > 0 {
        try waitForInput(asking, signals: signals, turn: &turn)
        if try readSome(&output) { return }
      }
    }
    guard line.byteCount <= asking.limit + 1 else { throw .tooLong(limit: asking.limit) }
    let answer = TypedLine(line)
    guard asking.turn != .other else { return answer.text }
    let rest = try turn.takeRest(limit: TypedLine.longestEnd)
    guard answer.isWhole(before: rest) else {
      turn.discardPaste()
      throw .severalLines
    }
    return answer.text
  }

  /// Appends the bytes that can be read now. Returns true at the end of the line.
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

  /// Waits until a byte can be read, and handles signals meanwhile.
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
      case .stop: try turn.stop { sayWaiting(asking) }
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
    let deadline = Deadline(after: Self.longestWrite, by: now)
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
