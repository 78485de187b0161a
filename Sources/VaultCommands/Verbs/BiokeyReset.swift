import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl biometry biokey reset [PINITEM]`: deletes the biokeys of a PIN, with the PIN.
enum BiokeyReset: VaultVerb {
  static let words = ["biometry", "biokey", "reset"]
  static let summary = "Delete the biokeys of a PIN. Codes then need the PIN again."
  static let arguments = [PINOptions.item]
  static let channels: [SecretChannel] = [.pin]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let examples = [
    "vaultctl biometry biokey reset --pin-file pin --passcode-file old",
    "vaultctl biometry biokey reset --pin-file pin --passcode-file old --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let pin = try command.pinItem()
    let context = try command.vault.pinContext()
    let deleted = try command.vault.unlocking { core in
      try core.resetBiokeys(of: pin.id, context: context)
    }
    return Outcome(json: .object { Field("deleted", deleted) })
  }
}
