import AuthenticatorKit
import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl key generate NAME`.
enum KeyGenerate: VaultVerb {
  static let words = ["key", "generate"]
  static let summary = "Make a key that signs."
  static let arguments = [ItemOptions.newName]
  static let type = Setting(
    "type",
    .choice([
      "p256": ClientKeyType.p256, "p384": .p384, "ed25519": .ed25519, "rsa2048": .rsa2048,
      "rsa3072": .rsa3072,
      "rsa4096": .rsa4096,
    ]), "", "What kind of key.", defaultValue: "p256")
  static let ownOptions: [any OptionKey] = [type] + KeyOptions.ofNewKey
  static let channels = [SecretChannel.applicationPassword]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "The private key never leaves the vault unless --exportable is given. 'key public' prints the public half.",
    "Making an RSA key takes up to some seconds.",
  ]
  static let examples = [
    "vaultctl key generate shop --type p256",
    "vaultctl key generate work --type ed25519",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try command.refuseTaken(command.required(ItemOptions.newName))
    let access = try command.newAccess(accessible: command[KeyOptions.accessible])
    let context = try command.vault.context(for: access)
    let made = try command.vault.unlocking { core in
      try core.generateClientKey(command[type] ?? .p256, command.newClientKey(access), context: context)
    }
    return Outcome(json: made.json)
  }
}
