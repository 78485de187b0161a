import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl read REFERENCE`.
enum ReadReference: VaultVerb {
  static let words = ["read"]
  static let summary = "Print the value of a reference, byte for byte."
  static let reference = Argument(
    "REFERENCE", .text, "vaultctl://NAME/FIELD, as 'exec' and 'inject' take it.")
  static let arguments = [reference]
  static let ownOptions: [any OptionKey] = [ItemOptions.copy]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .expired, .refused, .malformed]
  static let notes = [
    ReferenceNotes.form,
    "On a terminal a newline follows what is printed, anywhere else nothing does. An item with an access rule asks as always. 'get NAME "
      + "FIELD' does the same with the name as it is.",
    "With --json: name, field, and value.", ItemOptions.copyNote,
  ]
  static let examples = [
    "vaultctl read vaultctl://mail/password",
    "vaultctl read vaultctl://mail/account",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let reference = try VaultReference.read(command.required(reference), in: self.reference.name)
    let value = try command.values(of: [.field(reference)], areTold: false) { _ in self.reference.name }[0]
    let fields: [Field] = [Field("name", reference.name), Field("field", reference.field)]
    if command.has(ItemOptions.copy) { return try command.copy(value.secret, fields: fields) }
    return Outcome(
      json: .object(fields).adding { [Field("value", JSON.text(value.secret))] },
      pieces: [.secret(value.secret), .newlineOnTerminal])
  }
}
