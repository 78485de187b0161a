import Glibc
public import SecretMemory
import TextPreparation
public import VaultKit

/// Asks on a terminal that is opened by its name. Standard input and output stay free for data.
///
/// It shows what is about to happen, for which item, who asks and why, which secret the person is to type, how many
/// tries are left, and what an empty answer does. Characters that do not show as themselves are escaped, and text
/// that is too long is cut visibly. The terminal is restored, however the prompt ends.
public struct TerminalPrompt: Prompt, EndsWithRequest {
  private let path: String
  private let patience: Patience
  private let open: OpenPrompt
  private let cuts: CutQuestions?

  /// - Parameters:
  ///   - path: `/dev/tty` is the terminal that controls this process.
  ///   - patience: How long a person may take for one answer; then `.cancelled`.
  public init(path: String = "/dev/tty", patience: Duration = .seconds(300)) {
    self.init(path: path, patience: Patience(patience), open: OpenPrompt())
  }

  /// - Parameter now: Every limit passes by this clock.
  package init(path: String, patience: Duration = .seconds(300), by now: @escaping Now) {
    self.init(path: path, patience: Patience(patience, by: now), open: OpenPrompt())
  }

  init(path: String, patience: Patience, open: OpenPrompt, cuts: CutQuestions? = nil) {
    self.path = path
    self.patience = patience
    self.open = open
    self.cuts = cuts
  }

  /// Reads a line that the person types without echo, at most 1,024 bytes.
  ///
  /// - Throws: `.cancelled` after Ctrl-C, Ctrl-D, a timeout, or a cancellation by another thread; `.malformed` for
  ///   a longer line; `.interactionNotAllowed` at once, where there is no terminal, where the process is in the
  ///   background, and where the terminal cannot be locked for one prompt.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do throws(TerminalError) { return try type(request) } catch { throw VaultError(prompt: error) }
  }

  /// Asks for a yes or a no. `y` and `yes` agree; an empty line, `n` and `no` decline. After any other answer it
  /// asks again, at most twice.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    do throws(TerminalError) { return try agree(request) } catch { throw VaultError(prompt: error) }
  }

  /// As ``readSecret(_:)``, but throws the error of the terminal. What is no secret shows while it is typed.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may be typed, up to ``Terminal/longestLine``.
  ///   - isRepeated: The person types the same secret again: only the question is shown.
  package func type(
    _ request: PromptRequest, limit: Int = TypedSecret.longest, isRepeated: Bool = false
  ) throws(TerminalError) -> SecretBytes {
    let text = try text(request)
    let question = text.question + ": "
    return try ask(
      showing: isRepeated ? [] : lastPage(of: request, text, question: question), question: question,
      echoes: request.echoes, limit: limit,
      turn: request.echoes ? .other : isRepeated ? .repeated : .secret, until: request.ending)
  }

  /// As ``confirm(_:)``.
  func agree(_ request: PromptRequest) throws(TerminalError) -> Bool {
    let text = try text(request)
    let question = text.question + "? [y/N] "
    let lines = try lastPage(of: request, text, question: question)
    for round in 0..<3 {
      let answer = try ask(
        showing: round == 0 ? lines : [], question: question, echoes: true, until: request.ending)
      if let answer = Self.decision(answer) { return answer }
    }
    return false
  }

  /// Asks for how long a program may use an item. After an answer that means nothing it asks again, at most twice.
  func allow(_ request: PromptRequest) throws(TerminalError) -> GrantAnswer {
    let text = try text(request, isAboutGrant: true)
    let lines = try lastPage(of: request, text, question: Self.grantQuestion)
    for round in 0..<3 {
      let answer = try ask(
        showing: round == 0 ? lines : [Self.grantAnswers], question: Self.grantQuestion, echoes: true,
        until: request.ending)
      if let answer = GrantAnswer(typed: Self.word(answer)) { return answer }
    }
    return .no
  }

  private static let grantQuestion = "allow it? Enter: once, 5m: for 5 minutes, 3x: three times, n: no: "
  private static let grantAnswers =
    "  Enter, n, a time up to \(GrantAnswer.longest / 3600)h, or a number up to \(GrantAnswer.mostUses)x"

  /// Shows a line, in rows that the terminal does not break. Does nothing where there is no terminal, or the process is in its background.
  public func show(_ line: String, for request: PromptRequest) {
    guard let terminal = try? Terminal(path: path), terminal.isInForeground else { return }
    for row in PromptText.rows(line, columns: terminal.size.columns) { try? terminal.showLine(row) }
  }

  /// Ends an open prompt, from any thread.
  public func cancel() { open.cancel() }

  /// Says on a terminal, where there is one, that another prompt is open.
  static func sayWaiting(on path: String?) {
    if let path, let terminal = try? Terminal(path: path) { terminal.sayWaiting() }
  }

}

extension TerminalPrompt {
  /// The text in rows that this terminal does not break: a row that it breaks goes on in one that could pass for another line.
  private func text(
    _ request: PromptRequest, isAboutGrant: Bool = false
  ) throws(TerminalError) -> PromptText {
    PromptText(request, isAboutGrant: isAboutGrant, columns: try Terminal(path: path).size.columns)
  }

  /// The lines above the question. Where they need more than one screen, shows all pages but the last: the person goes on
  /// from page to page, and has seen every line when the question appears. So no fact, and no reason that a program gives, pushes
  /// another one off the screen.
  private func lastPage(
    of request: PromptRequest, _ text: PromptText, question: String
  ) throws(TerminalError) -> [String] {
    let size = try Terminal(path: path).size
    let pages = TextPages(text.lines, request.text, above: question, rows: size.rows, columns: size.columns)
      .pages
    for (number, page) in pages.enumerated().dropLast() {
      _ = try ask(
        showing: page, question: "page \(number + 1) of \(pages.count), Enter shows the next: ",
        echoes: false,
        until: request.ending)
    }
    return pages.last ?? []
  }

  private func ask(
    showing lines: [String], question: String, echoes: Bool, limit: Int = TypedSecret.longest,
    turn: Terminal.Asking.Turn = .other, until ending: PromptEnding?
  ) throws(TerminalError) -> SecretBytes {
    try Terminal(path: path, by: patience.now).ask(
      Terminal.Asking(
        lines: lines, question: question, limit: limit, echoes: echoes, turn: turn, patience: patience,
        open: open, ending: ending, cuts: cuts))
  }

  /// An answer that is no secret: the terminal has shown it.
  private static func word(_ answer: borrowing SecretBytes) -> String {
    answer.expose { span in
      String(decoding: unsafe span.withUnsafeBytes { unsafe Array($0) }, as: UTF8.self)
    }
  }

  private static func decision(_ answer: borrowing SecretBytes) -> Bool? {
    switch word(answer).lowercased() {
    case "y", "yes": true
    case "", "n", "no": false
    default: nil
    }
  }
}
