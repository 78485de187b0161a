import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin verify [PINITEM]`.
enum PINVerify: VaultVerb {
  static let words = ["pin", "verify"]
  static let summary = "Check a PIN, and print the id of its item."
  static let arguments = [PINOptions.item]
  static let channels = [SecretChannel.pin]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let notes = [
    "A wrong PIN counts (3), and the last one blocks the PIN (4). Nothing here can check a camouflaged PIN (9)."
  ]
  static let example = "vaultctl pin verify --pin-fd 3 3<pin"

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.pinItem()
    let context = try command.vault.pinContext()
    let verified = try command.vault.unlocking { try $0.verifyPIN(item.id, context: context) }
    command.note(marked: verified.wasMarked)
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("id", verified.item.hexadecimal)
        Field("verified", true)
      }, lines: [verified.item.hexadecimal])
  }
}

extension Command {
  /// Says that the count of wrong PINs may be too low.
  func note(marked: Bool) {
    guard marked else { return }
    messages.note(
      "the vault was copied or restored since the last PIN, so more wrong PINs may have been tried than are counted"
    )
  }
}
