import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp activate disable NAME`.
enum OTPActivateDisable: VaultVerb {
  static let words = ["otp", "activate", "disable"]
  static let summary = "End the use of a credential on this device, with its server."
  static let arguments = [ItemOptions.name]
  static let force = Flag("force", "Disable it here also if the server answers that it does not know it.")
  static let ownOptions: [any OptionKey] = [TransportOptions.program, force]
  static let passcodeCase: String? = "for another transport"
  static let channels = [SecretChannel.passcode, .recovery]
  static let audited = Audited.always
  static let notes = [
    "Needs --transport (2). The credential is disabled here, with its device credential, after the server agreed. Only a new "
      + "activation ends this. A server that does not know it (1) changes nothing here, unless --force is given.",
    ActivationWords.transportNote, ActivationWords.jsonNote,
  ]
  static let examples = [
    "vaultctl otp activate disable work --transport ~/transport",
    "vaultctl otp activate disable work --transport ~/transport --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(ItemOptions.name)
    let status = try command.vault.opened().credentialStatus(named: name)
    let transport = try command.neededTransport()
    let context = try command.vault.pinContext()
    try command.vault.unlocking {
      try $0.disableCredential(
        status.id, evenIfUnknown: command[force], over: transport, context: context)
    }
    return try command.activationOutcome(of: name)
  }
}
