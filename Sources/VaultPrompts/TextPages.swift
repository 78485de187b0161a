import VaultKit

/// What is above a question in pages that fit a screen, so that a person sees every line of it: the facts, and a ``ShownText``.
///
/// Each line of the text begins with a bar, and each row that continues a line with a plus: no line can pass for one of
/// the prompt, and no break that is only ours for one of the text.
struct TextPages {
  private(set) var pages: [[String]] = [[]]

  /// The pages of a terminal.
  ///
  /// - Parameters:
  ///   - lines: The facts, above the text.
  ///   - question: What is below the last page, on the same screen.
  ///   - rows, columns: The size of the screen.
  init(_ lines: [String], _ text: ShownText?, above question: String, rows: Int, columns: Int) {
    func height(_ line: String) -> Int { max(0, Self.width(line) - 1) / max(columns, 1) + 1 }
    // The question of a page has at most 60 characters.
    let below = max(height(question), height(String(repeating: "x", count: 60)))
    let most = max(1, rows - below)
    var used = 0
    for line in lines + (text.map { Self.rows(of: $0, columns: columns) } ?? []) {
      let next = height(line)
      append(line, onNewPage: used + next > most, used: &used, adding: next)
    }
  }

  /// The pages of a pinentry, which has no size: ten short rows, and less than a line of its protocol. One page if the text
  /// fits into the description of a question.
  static func pinentry(_ text: ShownText) -> TextPages {
    let rows = rows(of: text, columns: 64)
    let isShort = rows.count <= 10 && size(rows) <= mostWithQuestion
    return TextPages(rows, most: isShort ? mostWithQuestion : 700)
  }

  /// How many escaped bytes of a text the description of a pinentry's question may have.
  static let mostWithQuestion = 300

  private init(_ rows: [String], most: Int) {
    var used = 0
    for row in rows {
      let next = Self.size([row])
      append(
        row, onNewPage: used + next > most || pages[pages.count - 1].count == 10, used: &used, adding: next)
    }
  }

  private mutating func append(_ line: String, onNewPage: Bool, used: inout Int, adding size: Int) {
    if onNewPage, pages != [[]] {
      pages.append([])
      used = 0
    }
    pages[pages.count - 1].append(line)
    used += size
  }

  /// The rows of the text, none wider than the screen.
  private static func rows(of text: ShownText, columns: Int) -> [String] {
    text.text.split(separator: "\n" as Character, omittingEmptySubsequences: false).flatMap { line in
      var rows = [first]
      var width = 0
      for character in line {
        let next = self.width(String(character))
        if width > 0, width + next > columns - first.utf8.count {
          rows.append(further)
          width = 0
        }
        rows[rows.count - 1].append(character)
        width += next
      }
      return rows
    }
  }

  /// The most columns that a text can need: other characters than ASCII are taken for wide ones.
  static func width(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) }
  }

  private static func size(_ rows: [String]) -> Int {
    rows.reduce(0) { $0 + AssuanChannel.escaped($1).utf8.count + 3 }
  }

  private static let first = "  | "
  /// The beginning of a row that continues a line.
  static let further = "  + "
}
