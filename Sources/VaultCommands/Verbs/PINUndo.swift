import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin undo [PINITEM]`.
enum PINUndo: VaultVerb {
  static let words = ["pin", "undo"]
  static let summary = "Take back the change of a camouflaged PIN that was not confirmed."
  static let arguments = [PINOptions.item]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let notes = [
    "Without such a change, and for a checked PIN, there is nothing to take back (9). With --json: name, and pending, which is false."
  ]
  static let examples = [
    "vaultctl pin undo pin-camouflaged",
    "vaultctl pin undo pin-camouflaged --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.pinItem()
    let context = try command.vault.pinContext()
    try command.vault.unlocking { try $0.undoPINChange(item.id, context: context) }
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("pending", false)
      })
  }
}
