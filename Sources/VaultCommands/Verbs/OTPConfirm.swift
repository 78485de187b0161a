import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp confirm NAME`: the codes behind a camouflaged PIN wait for it.
enum OTPConfirm: VaultVerb {
  static let words = ["otp", "confirm"]
  static let summary = "Note that the server accepted the last code; the counter stays as it is."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let audited = Audited.always
  static let needs = VaultNeed.unlocked
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "It makes a change of a camouflaged PIN final, and counts the codes since then from 0; a credential without such a PIN "
      + "has nothing to confirm (9)."
  ]
  static let examples = [
    "vaultctl otp confirm rfc",
    "vaultctl otp confirm rfc --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    guard let pin = item.camouflagedPIN else {
      throw CommandError(.refused, "the credential has no camouflaged PIN, so there is nothing to confirm")
    }
    try command.vault.unlocking {
      try $0.confirmOTP(of: item.id, context: command.vault.context(for: item))
    }
    let status = try command.pinStatus(of: pin)
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("pin", status.name)
        Field("pending", status.hasPendingChange)
      })
  }
}
