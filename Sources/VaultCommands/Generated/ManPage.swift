import CommandLineKit
import TextFormats

/// Manual pages in mdoc, made from the table: `vaultctl(1)` and one page for each first word.
package enum ManPage {
  /// File names and their text.
  package static var all: [(name: String, text: String)] {
    [("vaultctl.1", overview)] + VerbTable.families.map { ("vaultctl-\($0.word).1", family($0)) }
  }
}

extension ManPage {
  private static var overview: String {
    var page = Page(title: "VAULTCTL", name: "vaultctl", summary: "keep secrets in a vault on this machine")
    page.line(".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar options")
    page.line(".Sh DESCRIPTION")
    page.text(
      "vaultctl keeps passwords, one-time-password credentials and other secrets in one file that is sealed "
        + "under a device key and, where a passcode is set, under that passcode as well.")
    page.text(
      "Results go to standard output alone, everything else to standard error with the prefix vaultctl:.")
    page.line(".Sh COMMANDS")
    page.list(VerbTable.families.map { ("vaultctl-\($0.word)(1)", $0.summary) })
    page.line(".Sh OPTIONS")
    page.list(Verb.common.map { ($0.usage, $0.explanation) })
    page.line(".Sh SECRETS")
    page.text(
      "A secret is never a word of the command line and never in the environment. Each has one channel: "
        + "an option --...-fd N that names an open descriptor, or --...-file PATH that names your own file of mode 0600 or 0400. "
        + "Without it the terminal is asked, opened by its name. A secret that is data is read from standard input."
    )
    page.text(
      "At most 1024 bytes are read for a passcode, PIN, phrase or code, and 1 MiB for the secret of an item; "
        + "a new name is 1 to 255 bytes of UTF-8 whose characters all show, another text at most 4096 without control characters."
    )
    page.line(".Sh ENVIRONMENT")
    page.list([
      ("VAULT_PATH", "The vault, where --vault is not given."),
      ("VAULT_DEVICE_KEY", "The device key file, where --device-key is not given."),
      ("XDG_DATA_HOME", "Holds vault/default.vault; else ~/.local/share."),
      ("XDG_STATE_HOME", "Holds the device keys; else ~/.local/state."),
      (
        "CREDENTIALS_DIRECTORY", "Where systemd puts vaultctl.passcode, used when no option gives a passcode."
      ),
    ])
    page.line(".Sh JSON")
    page.text(
      "With --json each command prints one object on one line; bytes are base64 under names that end in Base64, "
        + "what does not apply is absent. An error is {\"error\":{\"code\":...,\"exit\":...,\"message\":...}} on standard error, "
        + "with attemptsLeft, retryAfter (seconds) and hint where they apply.")
    page.line(".Sh EXIT STATUS")
    page.list(ExitCode.all.map { (String($0.rawValue), $0.meaning) })
    page.line(".Sh EXAMPLES", ".Dl vaultctl init --no-passcode && vaultctl item add mail --generate 24")
    return page.source
  }

  private static func family(_ family: VerbFamily) -> String {
    var page = Page(
      title: "VAULTCTL-\(family.word.uppercased())", name: "vaultctl-\(family.word)", summary: family.summary)
    let verbs = family.verbs()
    page.line(".Sh SYNOPSIS")
    for verb in verbs { page.line(".D1 " + Page.escaped(verb.usage)) }
    page.line(".Sh DESCRIPTION")
    for verb in verbs { describe(verb, on: &page) }
    page.line(".Sh OPTIONS OF EVERY COMMAND")
    page.list(Verb.common.map { ($0.usage, $0.explanation) })
    page.line(".Sh EXIT STATUS")
    page.list(Set(verbs.flatMap(\.exitCodes)).sorted().map { (String($0.rawValue), $0.meaning) })
    page.line(".Sh EXAMPLES")
    for verb in verbs { page.line(".Dl " + Page.escaped(verb.example)) }
    page.line(".Sh SEE ALSO", ".Xr vaultctl 1")
    return page.source
  }

  private static func describe(_ verb: Verb, on page: inout Page) {
    page.line(".Ss " + Page.escaped(verb.name))
    page.text(verb.summary)
    let common = Set(Verb.common.map(\.name))
    let options = verb.options.filter { !common.contains($0.name) }
    let arguments = verb.arguments.map { ($0.usage, $0.summary) }
    if !arguments.isEmpty || !options.isEmpty {
      page.list(arguments + options.map { ($0.usage, $0.explanation) })
    }
    for note in verb.notes { page.text(note) }
    page.text(verb.facts.map { "\($0.0): \($0.1)." }.joined(separator: " "))
    page.text("Exit codes: " + verb.exitCodes.map { String($0.rawValue) }.joined(separator: ", ") + ".")
  }
}

/// One page of mdoc while it is written.
private struct Page {
  private(set) var source: String

  init(title: String, name: String, summary: String) {
    source = """
      .\\" Made from the table of verbs by scripts/generate-man; do not edit.
      .Dd $Mdocdate$
      .Dt \(title) 1
      .Os
      .Sh NAME
      .Nm \(name)
      .Nd \(Page.escaped(Page.lowered(summary)))

      """
  }

  mutating func line(_ lines: String...) { source += lines.map { $0 + "\n" }.joined() }

  /// A paragraph, one sentence on a line as mdoc wants it.
  mutating func text(_ text: String) {
    if !source.hasSuffix("\n.Pp\n"), !lastLine.hasPrefix(".Sh"), !lastLine.hasPrefix(".Ss") { line(".Pp") }
    for sentence in Page.sentences(text) { line(Page.escaped(sentence)) }
  }

  mutating func list(_ rows: [(String, String)]) {
    line(".Bl -tag -width Ds")
    for (term, text) in rows {
      line(".It " + Page.escaped(term))
      for sentence in Page.sentences(text) { line(Page.escaped(sentence)) }
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
