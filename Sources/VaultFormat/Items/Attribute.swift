/// The name of a value of an item: its code in the file, and the type that the value is read as: `String`, `[UInt8]`, `Int64`,
/// `Bool` or ``Instant``.
///
/// Attributes are readable with the device key alone, like those of Apple's metadata class: put no secret into one.
public struct Attribute<Value: Sendable>: Sendable {
  /// The number of the attribute in the file format.
  public let code: UInt16

  /// An attribute with your own code; 0x8000–0xBFFF are reserved for programs.
  public init(code: UInt16) { self.code = code }
}

/// The codes that carry a blind index (docs/format/vault-file.md, section 6); `name` has a column of its own.
package let indexedAttributeCodes: [UInt16] = [2, 3, 4, 7, 12, 15, 21, 22, 40, 41, 43]

extension Attribute where Value == String {
  /// The vault-wide name that `vaultctl` uses, 1–255 bytes whose characters are all visible, unique over all kinds.
  public static var name: Self { Self(code: 1) }
  /// The service a generic password belongs to.
  public static var service: Self { Self(code: 2) }
  /// The account.
  public static var account: Self { Self(code: 3) }
  /// The label shown to people.
  public static var label: Self { Self(code: 4) }
  /// A comment for people.
  public static var comment: Self { Self(code: 5) }
  /// A description for people.
  public static var itemDescription: Self { Self(code: 6) }
  /// The access group; the default group is empty.
  public static var accessGroup: Self { Self(code: 12) }
  /// The server of an internet password.
  public static var server: Self { Self(code: 15) }
  /// The security domain of an internet password.
  public static var securityDomain: Self { Self(code: 16) }
  /// The path of an internet password.
  public static var path: Self { Self(code: 20) }
  /// Who issued a credential or certificate.
  public static var issuer: Self { Self(code: 40) }
  /// The tags of an item, one on each line, in form C of Unicode; each once.
  package static var tags: Self { Self(code: 97) }
  /// One-time password of type 4: the suite of its codes, such as `OCRA-1:HOTP-SHA256-8:C-QH64` (RFC 6287 §6).
  package static var ocraSuite: Self { Self(code: 72) }
}

extension Attribute where Value == [UInt8] {
  /// The program's own bytes.
  public static var generic: Self { Self(code: 7) }
  /// The label a program gives a key.
  public static var applicationLabel: Self { Self(code: 21) }
  /// The tag a program gives a key.
  public static var applicationTag: Self { Self(code: 22) }
  /// The serial number of a certificate.
  public static var serialNumber: Self { Self(code: 41) }
  /// The hash of a public key.
  public static var publicKeyHash: Self { Self(code: 43) }
  /// Of an entry, the identifier of its one-time-password credential.
  package static var ownedItem: Self { Self(code: 82) }
  /// The identifier of the PIN item that protects a credential, for display: the credential's policy decides.
  package static var pinItem: Self { Self(code: 70) }
}

extension Attribute where Value == Int64 {
  /// The protocol of an internet password, a four-character code.
  public static var networkProtocol: Self { Self(code: 17) }
  /// The port of an internet password.
  public static var port: Self { Self(code: 19) }
  /// One-time password: 1 HOTP, 2 TOTP, 3 Steam, 4 OCRA.
  public static var otpType: Self { Self(code: 64) }
  /// One-time password: 1 prover, 2 verifier.
  public static var otpRole: Self { Self(code: 65) }
  /// One-time password: 1 SHA-1, 2 SHA-256, 3 SHA-512.
  package static var otpAlgorithm: Self { Self(code: 66) }
  /// One-time password: number of digits.
  package static var otpDigits: Self { Self(code: 67) }
  /// One-time password: period in seconds.
  package static var otpPeriod: Self { Self(code: 68) }
  /// One-time password: look-ahead window of a verifier.
  package static var otpWindow: Self { Self(code: 69) }
  /// One-time password: the bits of a secret that has fewer than 80 and was stored all the same.
  package static var otpSecretBits: Self { Self(code: 96) }
}

extension Attribute where Value == Bool {
  /// Whether the item would be synchronized.
  public static var synchronizable: Self { Self(code: 13) }
}

extension Attribute where Value == Instant {
  /// When the item was added; set by the vault.
  public static var creationDate: Self { Self(code: 44) }
  /// Of an item in the trash, the expiry that it has when it is put back.
  package static var expiryBeforeTrash: Self { Self(code: 98) }
  /// When the item was last changed; set by the vault.
  public static var modificationDate: Self { Self(code: 45) }
}
