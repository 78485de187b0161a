package import VaultKit

/// The text of a prompt, the same on a terminal and in a pinentry.
package struct PromptText: Equatable {
  /// What was wrong with the previous answer; nil the first time.
  package let problem: String?
  /// What is about to happen, one fact per line. No character in it can move the cursor, and a fact that is too long for a line goes on
  /// in rows that begin with a plus: no part of it can pass for a line of its own.
  package let facts: [String]
  /// All lines, the problem first.
  package let lines: [String]
  /// The question, without the colon.
  package let question: String

  /// - Parameters:
  ///   - longestField: The most Unicode scalars of one field that are shown.
  ///   - isAboutGrant: Whether it asks for how long the program may do the same again.
  ///   - columns: The width of the screen. No row is wider, nor wider than that of the usual terminal.
  package init(
    _ request: PromptRequest, longestField: Int = Self.longestField, isAboutGrant: Bool = false,
    columns: Int = Self.longestRow
  ) {
    func visible(_ text: String) -> String { Self.field(text, limit: longestField) }
    problem = request.problem.map(visible)
    let label = request.label.map { ": '\(visible($0))'" } ?? ""
    var facts = [visible(request.operation) + label]
    if let requester = request.requester { facts += Self.measured(requester, visible) }
    if isAboutGrant, let requester = request.requester {
      facts.append(
        "  more than once holds for all that process \(requester.processID) starts, until a lock")
    }
    facts += Self.claims(request, visible)
    if request.text?.hasRightToLeftLetters == true {
      facts.append(
        "  the text has letters that go from right to left: numbers may appear here in another order than is signed"
      )
    }
    if let line = Self.answers(request) { facts.append("  " + line) }
    self.facts = facts.flatMap { Self.rows($0, columns: columns) }
    lines = (problem.map { Self.rows($0, columns: columns) } ?? []) + self.facts
    question = Self.question(of: request, longestField)
  }

  /// `text` with every character escaped that does not show as itself, and visibly cut at `limit`. So no label and
  /// no reason can redraw, reorder or push away the other lines.
  package static func visible(_ text: String, limit: Int = longestField) -> String {
    cut(VisibleText.escaped(text), limit: limit)
  }

  /// The most Unicode scalars of one field that are shown.
  package static let longestField = 300
}

extension PromptText {
  /// What the kernel says of the program that asks.
  private static func measured(
    _ requester: PromptRequest.Requester, _ visible: (String) -> String
  ) -> [String] {
    guard requester != .unknown else { return ["  asked by a program that the system does not show"] }
    func named(_ process: PromptRequest.Requester) -> String {
      let name = process.executable.map(visible) ?? "a program whose file is not known"
      return "\(name) (process \(process.processID))"
    }
    var facts = ["  asked by " + named(requester)]
    if let command = requester.command { facts.append("  through " + named(command)) }
    if !requester.parents.isEmpty {
      let parents = requester.parents.map { parent in
        parent.executable.map { "\(visible($0)) (process \(parent.processID))" }
          ?? "process \(parent.processID)"
      }
      facts.append("  started by " + parents.joined(separator: ", by "))
    }
    if let unit = requester.unit { facts.append("  in the unit \(visible(unit))") }
    return facts
  }

  /// What the program that asks says of itself, which nothing proves.
  private static func claims(_ request: PromptRequest, _ visible: (String) -> String) -> [String] {
    var facts: [String] = []
    if let reason = request.reason { facts.append("  says: \(visible(reason))") }
    guard let requester = request.requester else { return facts }
    for program in [requester] + [requester.command].compactMap(\.self) + requester.parents {
      if let name = program.name {
        facts.append("  says: process \(program.processID) is '\(visible(name))'")
      }
    }
    if let unit = requester.ownUnit { facts.append("  says: it is '\(visible(unit))'") }
    return facts
  }

  /// A fact in rows of at most so many columns, and of at most ``longestRow``: between words where that is possible.
  ///
  /// Broken by scalars: of some letters, any number is one character, which fits in no row.
  package static func rows(_ fact: String, columns: Int = longestRow) -> [String] {
    // A row of fewer has no room for a letter.
    let longestRow = max(min(columns, longestRow), 2 * TextPages.further.utf8.count)
    var (rows, rest) = ([String](), fact.unicodeScalars[...])
    while true {
      let begin = rows.isEmpty ? "" : TextPages.further
      var (width, end, space) = (begin.utf8.count, rest.startIndex, rest.startIndex)
      while end < rest.endIndex, width + TextPages.width(String(rest[end])) <= longestRow {
        width += TextPages.width(String(rest[end]))
        if rest[end] == " ", width > longestRow / 2 { space = end }
        end = rest.index(after: end)
      }
      guard end < rest.endIndex else { return rows + [begin + String(rest)] }
      if space > rest.startIndex { end = rest.index(after: space) }
      rows.append(begin + String(rest[..<end]))
      rest = rest[end...]
    }
  }

  /// What fits on a line of the usual terminal.
  package static let longestRow = 78

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

  /// "2 tries left; an empty answer cancels". All tries are left before the first: that says nothing.
  private static func answers(_ request: PromptRequest) -> String? {
    let isFirst = request.problem == nil && request.triesLeft.map { $0 >= allTries } ?? true
    let tries = isFirst ? nil : request.triesLeft.map { $0 == 1 ? "last try" : "\($0) tries left" }
    let empty = request.emptyAnswer.map { "an empty answer \($0)" }
    let parts = [tries, empty].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// How many answers a prompt judges at most.
  private static let allTries = 3

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
