import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp confirm NAME`: only a change of a camouflaged PIN waits for one, and this version makes none.
enum OTPConfirm: VaultVerb {
  static let words = ["otp", "confirm"]
  static let summary = "Confirm that the server accepted the last code."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "It ends a change of a camouflaged PIN; a credential without such a PIN has nothing to confirm (9)."
  ]
  static let example = "vaultctl otp confirm rfc"

  static func run(_ command: Command) throws -> Outcome {
    _ = try command.credential()
    throw CommandError(.refused, "the credential has no camouflaged PIN, so there is nothing to confirm")
  }
}
