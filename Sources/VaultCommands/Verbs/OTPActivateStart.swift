import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp activate start NAME`: the first step of an activation.
enum OTPActivateStart: VaultVerb {
  static let words = ["otp", "activate", "start"]
  static let summary = "Start the activation of a credential with the code of its server."
  static let arguments = [ItemOptions.newName]
  static let accessible = ItemOptions.accessible("When codes can be made.")
  static let service = Setting(
    "service", .text, "S", "What the credential is for, for the server and for lists.")
  static let account = Setting(
    "account", short: "u", .text, "A", "Whose credential it is, for the server and for lists.")
  static let ownOptions: [any OptionKey] = [
    TransportOptions.program, service, account, accessible, ItemOptions.thisDeviceOnly,
  ]
  static let channels = [SecretChannel.code]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Needs --transport (2). The server says until when the activation can be finished; 300 s if it does not. Until then there "
      + "is no credential, and no code. A start again replaces what was started. A credential that its server has disabled "
      + "(9) is replaced at the end of the new activation; any other item of that name is refused (8).",
    ActivationWords.transportNote, ActivationWords.jsonNote,
  ]
  static let examples = [
    "vaultctl otp activate start work --transport ~/transport --code-file code",
    "vaultctl otp activate start work --transport ~/transport --code-fd 3 3<code",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let transport = try command.neededTransport()
    _ = try command.vault.opened()
    let name = command.required(ItemOptions.newName)
    var new = NewActivation(name)
    (new.service, new.account) = (command[service], command[account])
    new.access = AccessControl(
      command[accessible] ?? .whenUnlocked, thisDeviceOnly: command[ItemOptions.thisDeviceOnly])
    try command.vault.unlockBeforeTyping(new.access)
    let code = try command.peerCode("activation code", to: "start the activation")
    let context = try command.vault.pinContext()
    _ = try command.vault.unlocking {
      try $0.startActivation(new, code: code, over: transport, context: context)
    }
    return try command.activationOutcome(of: name)
  }
}
