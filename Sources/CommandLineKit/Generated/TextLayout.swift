/// Text in lines of a width.
struct TextLayout {
  let width: Int
  /// Whether headings are bold.
  var isBold = false

  func heading(_ text: String) -> String { isBold ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  /// Words in lines. The lines after the first begin with so many spaces.
  func wrapped(_ text: String, indent: Int = 0, first: String = "") -> [String] {
    let gap = String(repeating: " ", count: indent)
    var lines = [first]
    var isEmpty = true
    for word in text.split(separator: " " as Character) {
      let line = lines[lines.count - 1]
      if !isEmpty, line.count + word.count + 1 > width {
        lines.append(gap + word)
      } else {
        lines[lines.count - 1] = isEmpty ? line + word : "\(line) \(word)"
      }
      isEmpty = false
    }
    return lines
  }

  /// Two columns. A long left column gets a line of its own, and each does where the lines are short.
  func table(_ rows: [(String, String)], upTo widest: Int = 26) -> [String] {
    let column = min(widest, rows.map(\.0.count).max() ?? 0)
    let isNarrow = column + 4 > width / 2
    let indent = isNarrow ? 6 : column + 4
    return rows.flatMap { left, right in
      guard left.count <= column, !isNarrow else {
        return wrapped(left, indent: 4, first: "  ")
          + wrapped(right, indent: indent, first: String(repeating: " ", count: indent))
      }
      let first = "  \(left)" + String(repeating: " ", count: column - left.count + 2)
      return wrapped(right, indent: indent, first: first)
    }
  }

  /// Two columns, a line for each row: a text that is too long ends in dots.
  func list(_ rows: [(String, String)]) -> [String] {
    let column = rows.map(\.0.count).max() ?? 0
    return rows.map { left, right in
      let start = "  \(left)" + String(repeating: " ", count: column - left.count + 2)
      let lines = TextLayout(width: width - 4).wrapped(right, first: start)
      return lines.count == 1 ? lines[0] : lines[0] + " ..."
    }
  }

  /// A command, in lines that a shell reads as one.
  func command(_ text: String) -> [String] {
    var lines = ["  "]
    for word in Self.words(ofCommand: text) {
      let line = lines[lines.count - 1]
      if line.count > 4, line.count + word.count + 3 > width {
        lines[lines.count - 1] += " \\"
        lines.append("    " + word)
      } else {
        lines[lines.count - 1] += (line.last == " " ? "" : " ") + word
      }
    }
    return lines
  }

  /// The words between spaces that are in no quotes.
  private static func words(ofCommand text: String) -> [String] {
    var (words, quote) = ([""], Character?.none)
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == " " {
        words.append("")
        continue
      }
      words[words.count - 1].append(character)
    }
    return words
  }
}
