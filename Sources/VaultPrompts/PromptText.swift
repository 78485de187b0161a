package import VaultKit

/// What a prompt shows of a request, the same on a terminal and in a pinentry.
package struct PromptText: Equatable {
  /// What went wrong with the answer before this one; nil on the first.
  package let problem: String?
  /// What is about to happen, one fact a line, nothing in them that could move the cursor.
  package let facts: [String]
  /// What is asked for, without the colon.
  package let question: String

  /// - Parameter longestField: The most Unicode scalars of one field that are shown.
  package init(_ request: PromptRequest, longestField: Int = Self.longestField) {
    func visible(_ text: String) -> String { Self.visible(text, limit: longestField) }
    problem = request.problem.map(visible)
    let label = request.label.map { ": '\(visible($0))'" } ?? ""
    var facts = [visible(request.operation) + label]
    if let requester = request.requester {
      let name = requester.executable.map(visible) ?? "a program whose file is not known"
      facts.append("  asked by \(name) (process \(requester.processID))")
    }
    if let reason = request.reason { facts.append("  reason: \(visible(reason))") }
    self.facts = facts
    question = Self.question(of: request, longestField)
  }

  /// All of it, the problem first.
  package var lines: [String] { (problem.map { [$0] } ?? []) + facts }

  /// Without what does not show as itself, and cut, visibly, where it is too long: neither a label nor a reason
  /// can redraw, reorder or push away the other lines.
  package static func visible(_ text: String, limit: Int = longestField) -> String {
    let shown = text.unicodeScalars.filter { !isHidden($0) }
    guard shown.count > limit else { return String(String.UnicodeScalarView(shown)) }
    return String(String.UnicodeScalarView(shown.prefix(limit)))
      + "… (\(shown.count - limit) more characters)"
  }

  /// The most Unicode scalars of one field that are shown.
  package static let longestField = 300
}

extension PromptText {
  /// Controls, line breaks, and formats: bidirectional overrides, joiners, invisible tags.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
    default: false
    }
  }

  private static func question(of request: PromptRequest, _ limit: Int) -> String {
    if let words = request.question {
      let shown = visible(words, limit: limit)
      let end = shown.lastIndex { $0 != " " && $0 != ":" }
      if let end { return String(shown[...end]) }
    }
    return switch request.subject {
    case .passcode: "passcode"
    case .applicationPassword: "application password"
    case .phrase: "phrase"
    case .presence: "password"
    case .finger: "finger"
    case .confirmation: "continue"
    }
  }
}
