import AuthenticatorKit
import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl key verify NAME`: the data comes on standard input, the signature is in a file.
enum KeyVerify: VaultVerb {
  static let words = ["key", "verify"]
  static let summary = "Check the signature of data by a key."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let file = Setting("signature-file", .path, "FILE", "The signature.")
  static let ownOptions: [any OptionKey] = [file, KeyOptions.signatureFormat]
  static let standardInput = StandardInput.data("data that was signed")
  static let ownExits: [ExitCode] = [.authenticationFailed]
  static let notes = [
    KeyOptions.signatureNote,
    "The exit code is 3 for a signature that is not one of this data. The vault stays locked: the public half comes from the "
      + "attributes of the item, which the device key alone can replace.",
  ]
  static let examples = [
    "printf 12 | vaultctl key sign shop > signature && printf 12 | vaultctl key verify shop --signature-file signature",
    "printf 12 | vaultctl key sign shop --format raw > signature && printf 12 | vaultctl key verify shop --format raw --signature-file signature",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let path = command[file] else {
      throw CommandError.usage("--signature-file names the signature, and is missing")
    }
    let key = try command.clientKey()
    let format = command[KeyOptions.signatureFormat] ?? .base64
    let signature = try signature(at: path, as: format, from: command.world.host)
    let data = try command.secrets.data(
      "data that was signed", to: "check the signature", limit: KeyOptions.longestData)
    try data.expose { (data) throws(VaultError) in
      try key.publicKey.verify(signature, of: data, as: format.form)
    }
    return Outcome(
      json: .object {
        Field("name", key.item.name)
        Field("valid", true)
      }, lines: ["valid"])
  }

  private static func signature(
    at path: String, as format: KeyOptions.SignatureText, from host: any Host
  ) throws(CommandError) -> [UInt8] {
    let file = HostFile.readable(path: path, doing: "reading \(printable(path))")
    let bytes = try host.lend(file) { descriptor throws(CommandError) in
      try SecretReading.all(of: descriptor, limit: 64 << 10, named: "signature")
    }
    guard format == .base64 else { return bytes.publicBytes }
    do throws(TextError) { return try bytes.expose(Base64.decoded(ignoringSpaces:)).publicBytes } catch {
      throw .malformed(
        "the signature is not base64", hint: "say with --format how it is written: base64, raw or der")
    }
  }
}

extension SecretBytes {
  /// A copy of bytes that are no secret.
  fileprivate var publicBytes: [UInt8] { expose { unsafe $0.withUnsafeBytes { unsafe Array($0) } } }
}
