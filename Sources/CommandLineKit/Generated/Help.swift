/// The text of `--help`, made from the declarations of the verbs.
package struct Help {
  private let program: Program

  package init(_ program: Program) { self.program = program }

  package var overview: String {
    let all = program.families.map { ($0.word, $0.summary) }
    return """
      Usage: \(program.name) COMMAND [options]

      \(program.manual.purpose)

      Commands:
      \(Self.table(all))
      '\(program.name) COMMAND --help' explains a command and ends in an example.

      Options of every command:
      \(Self.table(Self.rows(of: program.commonOptions)))
      Exit codes:
      \(Self.table(Self.rows(of: program.exitCodes)))
      Example:
        \(program.manual.example)

      """
  }

  package func family(_ family: VerbFamily) -> String {
    let verbs = family.verbs
    if verbs.count == 1, let only = verbs.first, only.words == [family.word] { return verb(only) }
    let rows = verbs.map { ($0.name, $0.summary) }
    return """
      Usage: \(program.name) \(family.word) COMMAND [options]

      \(family.summary)

      Commands:
      \(Self.table(rows))
      Exit codes:
      \(Self.table(Self.rows(of: Set(verbs.flatMap { $0.exitCodes }).sorted())))
      Example:
        \(verbs[0].example)

      """
  }

  package func verb(_ verb: any Verb.Type) -> String {
    var parts = ["Usage: \(program.usage(of: verb))\n", verb.summary + "\n"]
    if !verb.arguments.isEmpty {
      parts.append(
        "Arguments:\n" + Self.table(verb.arguments.map { ($0.usage, Self.summary(of: $0, in: verb)) }))
    }
    if !verb.options.isEmpty { parts.append("Options:\n" + Self.table(Self.rows(of: verb.options))) }
    parts.append("Options of every command:\n" + Self.table(Self.rows(of: program.commonOptions)))
    parts.append("Facts:\n" + Self.table(verb.facts.map { ($0.name, $0.text) }))
    if !verb.notes.isEmpty {
      parts.append(verb.notes.map { Self.wrapped($0, indent: 0) }.joined(separator: "\n"))
    }
    parts.append("Exit codes:\n" + Self.table(Self.rows(of: verb.exitCodes)))
    parts.append("Example:\n  \(verb.example)\n")
    return parts.joined(separator: "\n")
  }

  private static func summary(of argument: Argument, in verb: any Verb.Type) -> String {
    guard argument.name == verb.arguments.first?.name, !verb.standIns.isEmpty else { return argument.summary }
    let usages = verb.standIns.map(\.usage).joined(separator: " or ")
    return argument.summary + " \(usages) may stand in its place."
  }

  private static func rows(of exitCodes: [ExitCode]) -> [(String, String)] {
    exitCodes.map { (String($0.rawValue), $0.meaning) }
  }

  private static func rows(of options: [Option]) -> [(String, String)] {
    options.map { ($0.usage, $0.explanation) }
  }

  /// Two columns. A long left column gets a line of its own.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = min(24, rows.map(\.0.count).max() ?? 0)
    return rows.map { left, right in
      let text = wrapped(right, indent: width + 4)
      guard left.count <= width else {
        return "  \(left)\n" + String(repeating: " ", count: width + 4) + text
      }
      return "  \(left)" + String(repeating: " ", count: width - left.count + 2) + text
    }.joined()
  }

  private static func wrapped(_ text: String, indent: Int) -> String {
    var lines: [String] = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if !line.isEmpty, line.count + word.count + 1 > 96 - indent {
        lines.append(String(word))
      } else {
        lines[lines.count - 1] = line.isEmpty ? String(word) : "\(line) \(word)"
      }
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
  }
}
