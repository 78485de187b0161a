import AuthenticatorKit
import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl key import NAME`: the file comes on standard input.
enum KeyImport: VaultVerb {
  static let words = ["key", "import"]
  static let summary = "Store the private key of a file, with its certificates."
  static let arguments = [ItemOptions.newName]
  static let ownOptions = KeyOptions.ofNewKey
  static let channels = [SecretChannel.applicationPassword, .passphrase]
  static let standardInput = StandardInput.file("file with the key")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "The file is PKCS#12, PKCS#8 with or without a passphrase, PKCS#1 or SEC 1, as DER or PEM, or a key of OpenSSH without a "
      + "passphrase. A passphrase is asked for only if the file needs one: PKCS#12 whose passphrase is empty opens "
      + "without a question and without --passphrase-fd.",
    "Refused are files with several keys, keys other than P-256, P-384, Ed25519 and RSA of 2048, 3072 or 4096 bits (15), "
      + "encryption by RC2, DES, scrypt or bcrypt (15), PEM that is encrypted in the old way of OpenSSL (15), and files that ask "
      + "for more than 10,000,000 iterations, or PKCS#12 without a MAC (9).",
    "Certificates in the file stay with the key: 'key public --format certificates' prints them.",
    "The file stays where it is: delete it when the key works.",
  ]
  static let examples = [
    "vaultctl key import tls --passphrase-file phrase < tls.p12",
    "vaultctl key import web --passphrase-fd 3 < tls.p12 3<phrase",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try command.refuseTaken(command.required(ItemOptions.newName))
    let access = try command.newAccess(accessible: command[KeyOptions.accessible])
    try command.vault.unlockBeforeTyping(access)
    let file = try KeyFile(
      command.secrets.file("file with the key", limit: KeyFile.longest))
    let passphrase = try passphrase(of: file, access, command)
    let context = try command.vault.context(for: access)
    let made = try command.vault.unlocking { core in
      try core.importClientKey(
        file, passphrase: passphrase, command.newClientKey(access), context: context)
    }
    return Outcome(json: made.json)
  }

  /// The passphrase of the file; `nil` if it has none, or an empty one.
  private static func passphrase(
    of file: KeyFile, _ access: AccessControl, _ command: Command
  ) throws -> SharedSecret? {
    guard file.needsPassphrase else { return nil }
    if let given = try command.secrets.given(.passphrase) { return SharedSecret(given) }
    guard try !file.hasEmptyPassphrase() else { return nil }
    try command.vault.unlockBeforeTyping(access, isTyped: true)
    return SharedSecret(
      try command.secrets.secret(.passphrase, titled: "passphrase of the file", to: "open the file"))
  }
}
