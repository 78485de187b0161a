import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl item rm NAME`.
enum ItemRemove: VaultVerb {
  static let words = ["item", "rm"]
  static let summary = "Delete an item, without confirmation."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let audited = Audited.always
  static let notes = [
    "With --id it also removes an item that does not open, because it is damaged or a newer version made it; 'vaultctl verify' "
      + "names such items."
  ]
  static let example = "vaultctl item rm mail"

  static func run(_ command: Command) throws -> Outcome {
    try remove(command)
  }
}

/// What the passcode guards besides secrets: that items are there, what they are called, what they are for, and where their
/// counters are.
enum PasscodeGuard {
  /// When such a verb needs the passcode.
  static let verbCase = "where one is set, and the item is not of --accessible after-first-unlock"
}

/// Deletes one item, without a question beside that for the passcode.
func remove(_ command: Command) throws -> Outcome {
  let id = try idToRemove(command)
  try command.vault.unlocking { try $0.delete(id) }
  return Outcome(
    json: .object {
      Field("id", id.hexadecimal)
      Field("deleted", true)
    })
}

/// An item that does not open can be removed only by its identifier: its name cannot be compared.
private func idToRemove(_ command: Command) throws -> ItemID {
  do { return try command.target().id } catch let error as VaultError where error.isUnreadable {
    if command.family == nil, let id = command[Target.id] { return id }
    guard error.code == .damaged else { throw error }
    throw VaultError(
      error.code, error.message,
      hint: "'vaultctl verify' names the item; 'vaultctl item rm --id ID' removes it")
  }
}
