import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// What the verbs about client keys share.
enum KeyOptions {
  static let accessible = ItemOptions.accessible("When the key can sign.")
  static let exportable = Flag(
    "exportable", "Let 'get' print the private key, as PKCS#8 in DER.")
  /// How a new key is kept.
  static let ofNewKey: [any OptionKey] = [
    exportable, accessible, ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
  ]

  static let signatureFormat = Setting(
    "format", .choice(["base64": SignatureText.base64, "raw": .raw, "der": .der]), "",
    "How a signature is written; raw and der are bytes.", defaultValue: "base64")

  static let signatureNote =
    "raw is r and s of ECDSA, 64 or 96 bytes (JOSE), and base64 is raw in base64 with a newline; der is the DER of X.509 and "
    + "OpenSSL. RSA and Ed25519 have one form. The hash is SHA-256, but SHA-384 for P-384, and Ed25519 brings its own; RSA "
    + "signs by PKCS#1 v1.5."
  static let dataNote = "At most 16 MiB are signed; of more, sign the hash."
  static let longestData = 16 << 20
  static let longestToken = 128 << 10

  /// How a signature is written.
  enum SignatureText: String {
    case base64
    case raw
    case der

    var form: SignatureForm { self == .der ? .der : .raw }
  }
}
