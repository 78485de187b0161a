import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin unlock [PINITEM]`: a new PIN by the unlock key.
enum PINUnlock: VaultVerb {
  static let words = ["pin", "unlock"]
  static let summary = "Set a new PIN with the unlock key, and end a block."
  static let arguments = [PINOptions.item]
  static let ownOptions: [any OptionKey] = [PINOptions.keepBiokeys]
  static let channels = [SecretChannel.unlockKey, .newPIN]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let notes = [
    "'pin set --unlock-key-out' makes the unlock key; a PIN item without one stays blocked (9). The old PIN no longer works, "
      + "and the biokeys of the PIN are deleted unless --keep-biokeys is given."
  ]
  static let example = "vaultctl pin unlock --unlock-key-file unlock-key --new-pin-fd 3 3<new-pin"

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.pinItem()
    let core = try command.vault.opened()
    if core.hasPasscode { try command.vault.unlock(core) }
    let text = try command.vault.secret(.code, of: .unlockKey, for: core) { secrets throws(CommandError) in
      try secrets.secret(.unlockKey)
    }
    let key = try PINUnlockKey(text: text.box.bytes)
    let context = try command.vault.pinContext()
    try command.vault.unlocking {
      try $0.unlockPIN(item.id, with: key, keepingBiokeys: command[PINOptions.keepBiokeys], context: context)
    }
    let status = try command.pinStatus(of: item.id)
    return Outcome(
      json: .object {
        Field("name", status.name)
        Field("attemptsLeft", status.attemptsLeft)
        Field("biokey", status.hasBiokey)
      })
  }
}
