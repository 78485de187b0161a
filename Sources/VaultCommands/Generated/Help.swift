import CommandLineKit

/// The text of `--help`, made from the table.
enum Help {
  static var overview: String {
    let all = VerbTable.families.map { ($0.word, $0.summary) }
    return """
      Usage: vaultctl COMMAND [options]

      Keeps secrets in a vault on this machine: passwords, one-time-password credentials, keys.

      Commands:
      \(table(all))
      'vaultctl COMMAND --help' explains a command and ends in an example.

      Options of every command:
      \(table(rows(of: Verb.common)))
      Exit codes:
      \(table(ExitCode.all.map { (String($0.rawValue), $0.meaning) }))
      Example:
        vaultctl init --no-passcode && vaultctl item add mail --generate 24

      """
  }

  static func family(_ family: VerbFamily) -> String {
    let verbs = family.verbs()
    if verbs.count == 1, let only = verbs.first, only.words == [family.word] { return verb(only) }
    let rows = verbs.map { ($0.name, $0.summary) }
    return """
      Usage: vaultctl \(family.word) COMMAND [options]

      \(family.summary)

      Commands:
      \(table(rows))
      Exit codes:
      \(table(Set(verbs.flatMap(\.exitCodes)).sorted().map { (String($0.rawValue), $0.meaning) }))
      Example:
        \(verbs[0].example)

      """
  }

  static func verb(_ verb: Verb) -> String {
    var parts = ["Usage: \(verb.usage)\n", verb.summary + "\n"]
    if !verb.arguments.isEmpty {
      parts.append("Arguments:\n" + table(verb.arguments.map { ($0.usage, argumentSummary($0, verb)) }))
    }
    let common = Set(Verb.common.map(\.name))
    let own = verb.options.filter { !common.contains($0.name) }
    if !own.isEmpty { parts.append("Options:\n" + table(rows(of: own))) }
    parts.append("Options of every command:\n" + table(rows(of: Verb.common)))
    parts.append("Facts:\n" + table(verb.facts))
    if !verb.notes.isEmpty { parts.append(verb.notes.map { wrapped($0, indent: 0) }.joined(separator: "\n")) }
    parts.append("Exit codes:\n" + table(verb.exitCodes.map { (String($0.rawValue), $0.meaning) }))
    parts.append("Example:\n  \(verb.example)\n")
    return parts.joined(separator: "\n")
  }

  private static func argumentSummary(_ argument: Argument, _ verb: Verb) -> String {
    switch (argument.name == verb.arguments.first?.name, verb.target) {
    case (true, .full): argument.summary + " --service S --account A or --id ID may stand in its place."
    case (true, .identifier): argument.summary + " --id ID may stand in its place."
    default: argument.summary
    }
  }

  private static func rows(of options: [Option]) -> [(String, String)] {
    options.map { ($0.usage, $0.explanation) }
  }

  /// Two columns; a long left one stands on a line of its own.
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

extension Option {
  /// The summary with what the reader must know beside it.
  var explanation: String {
    var text = summary
    if let defaultValue, !valueIsOptional { text += " Default: \(defaultValue)." }
    if isRepeatable { text += " May be given several times." }
    return text
  }
}

extension Verb {
  /// The one table of what a verb reads, needs, asks and leaves behind.
  var facts: [(String, String)] {
    [("reads stdin", stdinFact), ("session", sessionFact), ("asks", askFact), ("audited", auditFact)]
  }

  private var stdinFact: String {
    switch standardInput {
    case .unused: "no"
    case .data(let what): "yes: the \(what), byte for byte; on a terminal it is asked for twice without echo"
    case .line(let what):
      "yes: the \(what), one newline at the end is dropped; on a terminal it is asked for without echo"
    }
  }

  private var sessionFact: String {
    switch session {
    case .noVault: "needs no vault"
    case .vault: "needs the vault, not its passcode"
    case .unlocked: "needs the vault unlocked, where a passcode is set and guards what is used"
    }
  }

  private var askFact: String {
    if asksByFlags {
      return "for the passcode where it is needed, and for what the item's --access flags name"
    }
    return session == .unlocked || !channels.isEmpty
      ? "for the secrets above that are needed and not given" : "nothing"
  }

  private var auditFact: String {
    switch audited {
    case .never: "no"
    case .always: "yes"
    case .onRequest: "only for items made with --audit all"
    }
  }
}
