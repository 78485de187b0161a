import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl mv NAME NEW`.
enum ItemRename: VaultVerb {
  static let words = ["mv"]
  static let summary = "Give an item another name, and change nothing else."
  static let new = ItemOptions.newName("NEW")
  static let arguments = [ItemOptions.name, new]
  static let target = Target.full
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Nothing but the name changes: the account stays, also where it is the old name. 'edit' changes the rest, 'cp' adds a second entry."
  ]
  static let examples = [
    "vaultctl mv mail post",
    "vaultctl mv mail work/mail",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let new = command.required(new)
    let item = try command.vault.unlocking { core in
      let item = try command.target()
      if item.name != new { try command.refuseTaken(new) }
      var changes = ItemChanges()
      changes.attributes[.name] = new
      return try core.update(item.id, changes, context: command.vault.context(for: item))
    }
    return Outcome(json: item.json)
  }
}
