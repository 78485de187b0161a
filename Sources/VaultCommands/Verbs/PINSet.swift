import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin set [PINITEM]`.
enum PINSet: VaultVerb {
  static let words = ["pin", "set"]
  static let summary = "Make a new PIN item, to put credentials behind it with 'otp add --pin'."
  static let arguments = [PINOptions.newItem]
  static let accessible = ItemOptions.accessible("When the PIN, and what is behind it, can be used.")
  static let unlockKey = Setting(
    "unlock-key-out", .path, "FILE",
    "Write an unlock key to a new file of mode 0600. It sets a new PIN when the PIN is blocked or forgotten.")
  static let ownOptions: [any OptionKey] = [
    PINOptions.mode, PINOptions.limit, unlockKey, accessible, ItemOptions.thisDeviceOnly,
  ]
  static let channels = [SecretChannel.newPIN]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "A PIN has 4 to 6 digits. The first ones that a thief tries are refused (9). A camouflaged PIN item is made without "
      + "a PIN, and refuses one (9): each credential that is put behind it asks for the PIN.",
    "Without an unlock key, nothing ends a block of a checked PIN. Keep the unlock key like a recovery code: with the vault, "
      + "it replaces the PIN.",
    "With --json: name, id, mode, and unlockKeyFile where --unlock-key-out named one.",
  ]
  static let examples = [
    "vaultctl pin set work --limit 5 --new-pin-fd 3 3<pin",
    "vaultctl pin set home --mode camouflaged",
  ]

  static func run(_ command: Command) throws -> Outcome {
    var new = NewPINItem(command[PINOptions.mode] ?? .checked)
    if let name = command[PINOptions.newItem] { new.name = name }
    new.limit = command[PINOptions.limit].map(Int.init)
    new.access = AccessControl(
      command[accessible] ?? .whenUnlocked, thisDeviceOnly: command[ItemOptions.thisDeviceOnly])
    if new.mode == .camouflaged, let option = SecretChannel.newPIN.option(in: command.invocation) {
      throw CommandError(
        .refused, "a camouflaged PIN item is made without a PIN, and \(option.shown) is given",
        hint: "give the PIN to each credential that is put behind it, such as 'vaultctl otp add --pin-fd N'")
    }
    try command.refuseTaken(new.name)
    let path = command[unlockKey]
    var file: NewSecretFile?
    if let path {
      try NewSecretFile.refuseTaken(path, named: "unlock key", on: command.world.host)
      let key = try PINUnlockKey.fresh()
      file = NewSecretFile(path, secret: key.text, named: "unlock key", in: command.world)
      new.unlockKey = key
    }
    let made = try make(new, file: file, command: command)
    return Outcome(
      json: .object {
        Field("name", new.name)
        Field("id", made.id.hexadecimal)
        Field("mode", new.mode.word)
        Field("unlockKeyFile", path)
      })
  }
}

/// The unlock key is on the disk before it opens anything.
private func make(_ new: NewPINItem, file: NewSecretFile?, command: Command) throws -> Item {
  let context = try command.vault.pinContext()
  func make() throws -> Item { try command.vault.unlocking { try $0.makePIN(new, context: context) } }
  return try file.map { try command.vault.making($0, make) } ?? make()
}

extension PINMode {
  /// The word of `--mode` and of listings.
  var word: String { self == .camouflaged ? "camouflaged" : "checked" }
}
