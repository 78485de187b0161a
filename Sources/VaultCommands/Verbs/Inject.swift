import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl inject < template`: a text with values of the vault in it.
enum Inject: VaultVerb {
  static let words = ["inject"]
  static let summary = "Print a template with values from the vault in it."
  static let out = Setting(
    "out", short: "o", .path, "FILE", "Write a new file, mode 0600, in place of standard output.")
  static let ownOptions: [any OptionKey] = [out]
  static let channels = ItemOptions.accessChannels
  static let standardInput = StandardInput.file("template")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .alreadyExists, .expired, .refused, .malformed]
  static let notes = [
    "In the template, {{ vaultctl://NAME/FIELD }} stands for a value. " + ReferenceNotes.form,
    "The value is inserted as it is: it is not escaped or quoted for the language of the template, and not read again. "
      + "Other double braces belong to other programs, and stay as they are. A reference stands alone in its braces and on one line; what is "
      + "meant as one and is wrong is an error (12) with its line and column. There is no way to write the braces of a reference themselves.",
    "All values are read in one transaction before the first byte is written. If one cannot be given, nothing is written, and no FILE is "
      + "left. " + ReferenceNotes.told,
    "FILE is never overwritten (8), and has its name only when it is whole. Standard output must not be a file that others can read (9). "
      + "The template has at most 16 MiB. With --json, which needs --out: path, and references (how many different ones).",
  ]
  static let examples = [
    "printf 'password: {{ vaultctl://mail/password }}' | vaultctl inject",
    "printf 'token={{ vaultctl://mail/password }}' | vaultctl inject --out settings",
  ]
  static let allowedInBatch = false
  static let absentOptions = ["in": "give the template on standard input: vaultctl inject < FILE"]

  static func run(_ command: Command) throws -> Outcome {
    let path = command[out]
    guard !command.isJSON || path != nil else {
      throw CommandError.usage("--json needs --out FILE: standard output carries the text")
    }
    if path == nil {
      try command.world.refuseExposedOutput(
        hint: "give --out FILE, or run 'umask 077' before the shell makes one")
    }
    let text = SharedSecret(try command.secrets.file("template", limit: Template.longest))
    let template = try Template(text)
    if template.references.isEmpty { command.messages.note("the template has no reference") }
    // A name that is taken is refused before anybody is asked.
    let file = try path.map { path in
      try command.world.host.makeFile(path, interruption: command.world.interruption)
    }
    let values = try command.values(
      of: template.references.map(WantedValue.field), origin: template.place(ofReference:))
    let printed = Outcome(json: nil, pieces: template.pieces(of: text, with: values))
    guard let path, let file else { return printed }
    let stream = OutputStream(
      descriptor: file.descriptor, name: printable(path), hint: "free some space there; no file is left")
    try Printer(output: stream, isJSON: false, hasColours: false).print(printed)
    try file.finish()
    return Outcome(
      json: .object {
        Field("path", path)
        Field("references", template.references.count)
      }, lines: [])
  }
}

/// What the help of several verbs says of references.
enum ReferenceNotes {
  static let form =
    "NAME is the name of an item. FIELD is password (which may be left out with its slash), notes, url (the first address), account, "
    + "service, or the name of a field of the item's own. Both are percent-encoded (a space is %20), and the last slash separates them. "
    + "One-time-password credentials, PINs, tokens and other items of a component have no reference (9)."
  static let told =
    "The names and fields of references are told on standard error before they are resolved. An item with an access rule asks as always."
}

extension Template {
  fileprivate func pieces(of text: SharedSecret, with values: [FieldValue]) -> [Outcome.Piece] {
    pieces.map { piece in
      switch piece {
      case .text(let range): .part(of: text, range)
      case .value(let index): .secret(values[index].secret)
      }
    }
  }
}
