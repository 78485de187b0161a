import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl otp rm NAME`.
enum OTPRemove: VaultVerb {
  static let words = ["otp", "rm"]
  static let summary = "Delete a credential, without confirmation."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let audited = Audited.always
  static let example = "vaultctl otp rm rfc"

  static func run(_ command: Command) throws -> Outcome {
    try remove(command)
  }
}
