import AuthenticatorKit
import CommandLineKit
import Glibc
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl biometry biokey register [PINITEM]`: a biokey for a PIN, with the PIN.
enum BiokeyRegister: VaultVerb {
  static let words = ["biometry", "biokey", "register"]
  static let summary = "Register a biokey, which a member of the set opens in place of a checked PIN."
  static let arguments = [PINOptions.item]
  static let name = Setting(
    "name", .newName, "NAME", "The name of the biokey; that of the PIN item and -biokey when not given.")
  static let members = Setting(
    "members", .choice(["current-set": Biokey.Members.currentSet, "any": .any]), "",
    "current-set: after a change of the set, the biokey never opens again. any: each member, also a later one.",
    defaultValue: "current-set")
  static let device = Setting(
    "device", .text, "TEXT", "The name of this device in the list; its host name when not given.")
  static let ownOptions: [any OptionKey] = [name, members, device]
  static let channels: [SecretChannel] = [.pin]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .alreadyExists, .refused]
  static let notes = [
    "A code by biokey is the code by PIN, and the PIN goes on to work. A PIN has one biokey: another registration replaces it, "
      + "and a message says so. A change of the PIN deletes it.",
    "A biokey needs a passcode, stays on this device, and is in no backup. A camouflaged PIN has none (9). Five failures lock "
      + "it (4) until the PIN is right; they are not attempts of the PIN.",
  ]
  static let examples = [
    "vaultctl biometry biokey register --pin-file pin --passcode-file old",
    "vaultctl biometry biokey register --pin-file pin --passcode-file old --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let pin = try command.pinItem()
    var new = NewBiokey(command[members] ?? .currentSet)
    new.name = command[name]
    new.device = command[device] ?? hostName()
    let context = try command.vault.pinContext()
    let registered = try command.vault.unlocking { core in
      try core.registerBiokey(new, for: pin.id, context: context)
    }
    if registered.hasReplaced {
      command.messages.note("the earlier biokey of the PIN was replaced, and is gone")
    }
    return Outcome(json: registered.biokey.json.adding("replaced", .boolean(registered.hasReplaced)))
  }

  /// The name of this machine; `nil` if it is not UTF-8.
  private static func hostName() -> String? {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
    return String(validating: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
