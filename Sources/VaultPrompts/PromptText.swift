package import VaultKit

/// The text of a prompt, the same on a terminal and in a pinentry.
package struct PromptText: Equatable {
  /// What was wrong with the previous answer; nil the first time.
  package let problem: String?
  /// What is about to happen, one fact per line. No character in it can move the cursor.
  package let facts: [String]
  /// The question, without the colon.
  package let question: String

  /// - Parameter longestField: The most Unicode scalars of one field that are shown.
  package init(_ request: PromptRequest, longestField: Int = Self.longestField) {
    func visible(_ text: String) -> String { Self.field(text, limit: longestField) }
    problem = request.problem.map(visible)
    let label = request.label.map { ": '\(visible($0))'" } ?? ""
    var facts = [visible(request.operation) + label]
    if let requester = request.requester {
      let name = requester.executable.map(visible) ?? "a program whose file is not known"
      facts.append("  asked by \(name) (process \(requester.processID))")
    }
    if let reason = request.reason { facts.append("  reason: \(visible(reason))") }
    if request.text?.hasRightToLeftLetters == true {
      facts.append(
        "  the text has letters that go from right to left: numbers may appear here in another order than is signed"
      )
    }
    if let line = Self.answers(request) { facts.append("  " + line) }
    self.facts = facts
    question = Self.question(of: request, longestField)
  }

  /// All lines, the problem first.
  package var lines: [String] { (problem.map { [$0] } ?? []) + facts }

  /// `text` with every character escaped that does not show as itself, and visibly cut at `limit`. So no label and
  /// no reason can redraw, reorder or push away the other lines.
  package static func visible(_ text: String, limit: Int = longestField) -> String {
    cut(VisibleText.escaped(text), limit: limit)
  }

  /// The most Unicode scalars of one field that are shown.
  package static let longestField = 300
}

extension PromptText {
  /// As ``visible(_:limit:)``. A run of spaces, which could imitate a new line, is shown as their number.
  private static func field(_ text: String, limit: Int) -> String {
    var shown = ""
    var spaces = 0
    func endSpaces() {
      shown += spaces > mostSpaces ? "\\u{20}×\(spaces)" : String(repeating: " ", count: spaces)
      spaces = 0
    }
    for character in VisibleText.escaped(text) {
      guard character != " " else {
        spaces += 1
        continue
      }
      endSpaces()
      shown.append(character)
    }
    endSpaces()
    return cut(shown, limit: limit)
  }

  private static let mostSpaces = 2

  private static func cut(_ shown: String, limit: Int) -> String {
    let scalars = shown.unicodeScalars
    guard scalars.count > limit else { return shown }
    return String(scalars.prefix(limit)) + "… (\(scalars.count - limit) more characters)"
  }

  /// "2 tries left; an empty answer cancels"
  private static func answers(_ request: PromptRequest) -> String? {
    let tries = request.triesLeft.map { $0 == 1 ? "last try" : "\($0) tries left" }
    let empty = request.emptyAnswer.map { "an empty answer \($0)" }
    let parts = [tries, empty].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private static func question(of request: PromptRequest, _ limit: Int) -> String {
    if let words = request.question {
      let shown = field(words, limit: limit)
      let end = shown.lastIndex { $0 != " " && $0 != ":" }
      if let end { return String(shown[...end]) }
    }
    return switch request.subject {
    case .passcode: "vault passcode"
    case .applicationPassword: "application password"
    case .phrase: "phrase"
    case .presence: "login password"
    case .finger: "finger"
    case .confirmation: "continue"
    case .pin: "PIN"
    case .newPIN: "new PIN"
    case .code: "code"
    case .transaction: "accept"
    }
  }
}
