import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl key public NAME`.
enum KeyPublic: VaultVerb {
  /// How the key is written.
  enum Form: String {
    case pem
    case jwk
    case ssh
    case pin
    case certificates
  }

  static let words = ["key", "public"]
  static let summary = "Print the public half of a key, or its certificates."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let format = Setting(
    "format",
    .choice(["pem": Form.pem, "jwk": .jwk, "ssh": .ssh, "pin": .pin, "certificates": .certificates]),
    "", "How it is written.", defaultValue: "pem")
  static let ownOptions: [any OptionKey] = [format]
  static let notes = [
    "pem is the SubjectPublicKeyInfo, jwk a JSON Web Key with its required members in the order of a thumbprint, ssh a line of "
      + "authorized_keys, pin the base64 of the SHA-256 of the SubjectPublicKeyInfo, as curl takes it after sha256//. "
      + "certificates are those of the file that the key came from, as PEM, first the one of the key; without any, the exit "
      + "code is 1.",
    "The public half is an attribute of the item: whoever has the device key can replace it, and a key whose halves differ "
      + "does not sign (10).",
    "With --json: name, type, format, and text.",
  ]
  static let examples = [
    "vaultctl key public shop --format jwk",
    "vaultctl key public shop --format ssh",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let key = try command.clientKey()
    let form = command[format] ?? .pem
    let text = try text(of: key, as: form)
    return Outcome(
      json: .object {
        Field("name", key.item.name)
        Field("type", key.type.rawValue)
        Field("format", form.rawValue)
        Field("text", text)
      }, pieces: [.text(text)])
  }

  private static func text(of key: ClientKeyDescription, as form: Form) throws(CommandError) -> String {
    switch form {
    case .pem: return key.publicKey.pem
    case .jwk: return key.publicKey.jwk + "\n"
    case .ssh: return key.publicKey.ssh + "\n"
    case .pin: return key.publicKey.pin + "\n"
    case .certificates:
      guard !key.certificates.isEmpty else {
        throw CommandError(.notFound, "the key has no certificates", code: "certificatesNotFound")
      }
      return key.certificates.map { PEMBlock.text("CERTIFICATE", $0) }.joined()
    }
  }
}
