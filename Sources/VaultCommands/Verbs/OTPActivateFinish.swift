import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp activate finish NAME`: the second step of an activation.
enum OTPActivateFinish: VaultVerb {
  static let words = ["otp", "activate", "finish"]
  static let summary = "Finish an activation with the second code: the credential is active, behind its PIN."
  static let arguments = [ItemOptions.name]
  static let ownOptions: [any OptionKey] = [
    TransportOptions.program, PINOptions.guardMode, PINOptions.guardItem,
  ]
  static let channels = [SecretChannel.code, .pin]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Needs --transport (2). The server's mode, which 'otp activate status' shows, says whether a PIN must guard the credential; "
      + "--pin or --pin-mode names it. A checked PIN is verified before the server is asked, a camouflaged one is typed twice. "
      + "Where --pin-mode makes the PIN item, --pin-fd gives the new PIN.",
    "A code that the server refuses (3) and the end of the time (7), here or at the server, end the activation, and what was "
      + "stored for it is wiped. Any other failure leaves it. An activation that is finished has used its code (3).",
    ActivationWords.transportNote, ActivationWords.jsonNote + " Also type: hotp, totp or ocra.",
  ]
  static let examples = [
    "vaultctl otp activate finish work --transport ~/transport --code-file code --pin-mode checked --pin-file pin",
    "vaultctl otp activate finish work --transport ~/transport --code-fd 4 --pin-mode checked --pin-fd 3 3<pin 4<code",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(ItemOptions.name)
    let core = try command.vault.opened()
    let pending = try core.activationUnderWay(of: core.credentialStatus(named: name).id)
    let transport = try command.neededTransport()
    // That of the activation: a disabled credential that it replaces may have had another one.
    let wantsUnlockKey = try core.credentialStatus(of: pending.id).keepsUnlockKey
    var guarding = try NewGuard(command, access: pending.access)
    let unlockKey = try wantsUnlockKey ? guarding.givingUnlockKey() : nil
    try command.vault.unlockBeforeTyping(pending.access)
    let code = try command.peerCode("second code", to: "finish the activation")
    let done = try guarding.finishing(pending.access, in: command) { core, pin, context in
      try core.finishActivation(
        named: name, code: code, pin: pin, unlockKey: unlockKey, over: transport, context: context)
    }
    if wantsUnlockKey, unlockKey == nil {
      command.messages.note(
        "the server wants an unlock key of the PIN, and has none: only a checked PIN that is made in this step gives one"
      )
    }
    return try command.activationOutcome(of: name) {
      Field("type", done.type)
    }
  }
}
