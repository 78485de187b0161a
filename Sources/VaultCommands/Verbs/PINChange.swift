import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin change [PINITEM]`.
enum PINChange: VaultVerb {
  static let words = ["pin", "change"]
  static let summary = "Change the PIN of a PIN item, for all credentials behind it at once."
  static let arguments = [PINOptions.item]
  static let ownOptions: [any OptionKey] = [PINOptions.keepBiokeys]
  static let channels = [SecretChannel.pin, .newPIN]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let notes = [
    "A checked PIN: the old PIN no longer works, and the biokeys of the PIN are deleted unless --keep-biokeys is given. In "
      + "an old copy of the vault file the old PIN still works.",
    "A camouflaged PIN: nothing here can check the old PIN, so the change is pending. 'otp confirm' makes it final after "
      + "the server accepted a code; 'pin undo' takes it back.",
    "With --json: name, pending (whether the change waits for 'otp confirm'), and biokey (whether the PIN still has one).",
  ]
  static let examples = [
    "vaultctl pin change --pin-fd 3 --new-pin-fd 4 3<pin 4<new-pin",
    "vaultctl pin change --pin-file pin --new-pin-file new-pin",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.pinItem()
    if try command.pinStatus(of: item.id).hasPendingChange {
      command.messages.note(
        "a change is pending, which this one replaces: the old PIN is the one before that change")
    }
    let context = try command.vault.pinContext()
    try command.vault.unlocking {
      try $0.changePIN(item.id, keepingBiokeys: command[PINOptions.keepBiokeys], context: context)
    }
    let status = try command.pinStatus(of: item.id)
    if status.hasPendingChange {
      command.messages.note(
        "the change is pending: after the server accepted a code, run 'vaultctl otp confirm NAME'; "
          + "'vaultctl pin undo' takes it back")
    }
    return Outcome(
      json: .object {
        Field("name", status.name)
        Field("pending", status.hasPendingChange)
        Field("biokey", status.hasBiokey)
      })
  }
}
