/// One page of mdoc while it is written.
struct ManPage {
  private(set) var source: String

  init(title: String, name: String, summary: String) {
    source = """
      .\\" Made from the table of verbs by scripts/generate-man; do not edit.
      .Dd $Mdocdate$
      .Dt \(title) 1
      .Os
      .Sh NAME
      .Nm \(name)
      .Nd \(Self.escaped(Self.lowered(summary)))

      """
  }

  mutating func line(_ lines: String...) { source += lines.map { $0 + "\n" }.joined() }

  /// A paragraph, one sentence on a line as mdoc wants it.
  mutating func text(_ text: String) {
    if !source.hasSuffix("\n.Pp\n"), !lastLine.hasPrefix(".Sh"), !lastLine.hasPrefix(".Ss") { line(".Pp") }
    for sentence in Self.sentences(text) { line(Self.escaped(sentence)) }
  }

  mutating func list(_ rows: [(String, String)]) {
    line(".Bl -tag -width Ds")
    for (term, text) in rows {
      line(".It " + Self.escaped(term))
      for sentence in Self.sentences(text) { line(Self.escaped(sentence)) }
    }
    line(".El")
  }

  private var lastLine: Substring { source.split(separator: "\n").last ?? "" }

  /// Text that no line of roff takes for a request.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "\"": result += "\\(dq"
      case "`": result += "\\(ga"
      case "|": result += "\\&|\\&"
      default: result.append(character)
      }
    }
    return result.first == "." ? "\\&" + result : result
  }

  private static func sentences(_ text: String) -> [String] {
    var sentences: [String] = []
    var current = ""
    for word in text.split(separator: " ") {
      current += current.isEmpty ? String(word) : " " + word
      if word.hasSuffix(".") {
        sentences.append(current)
        current = ""
      }
    }
    return sentences + (current.isEmpty ? [] : [current])
  }

  private static func lowered(_ text: String) -> String {
    let trimmed = text.hasSuffix(".") ? String(text.dropLast()) : text
    return trimmed.prefix(1).lowercased() + trimmed.dropFirst()
  }
}
