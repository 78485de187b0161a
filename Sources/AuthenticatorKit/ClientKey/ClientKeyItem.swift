import VaultCrypto
public import VaultKit

/// A client key as the attributes of its item describe it. They open with the device key alone, and can be changed with it.
struct ClientKeyItem {
  /// The value of ``Attribute/keyClass`` for a private key.
  static let privateKey: Int64 = 1

  let item: Item
  let subjectPublicKeyInfo: [UInt8]

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind; ``VaultError/Code/unsupported`` for a key of a
  ///   program, which this component does not know.
  init(_ item: Item) throws(VaultError) {
    guard item.kind == .key else {
      throw VaultError(.itemNotFound, "the item is no key", hint: .listKeys)
    }
    guard let spki = item.attributes[.subjectPublicKeyInfo] else {
      throw VaultError(
        .unsupported, "the key was stored by a program of its own, and is no client key",
        hint: "use it with that program")
    }
    self.item = item
    subjectPublicKeyInfo = spki
  }

  /// - Throws: ``VaultError/Code/damaged`` if the attributes do not describe a key.
  func description() throws(VaultError) -> ClientKeyDescription {
    guard let key = try? PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo),
      let certificates = try? KeyFiles.certificates(joinedIn: item.attributes[.certificates] ?? [])
    else { throw Self.damaged }
    return ClientKeyDescription(item: item, publicKey: key, certificates: certificates)
  }

  static var damaged: VaultError {
    VaultError(.damaged, "the attributes of the key do not belong to it", hint: .verifyAndRestore)
  }
}

/// A client key without its private half.
public struct ClientKeyDescription: Sendable {
  /// The item.
  public let item: Item
  /// What others verify its signatures with.
  public let publicKey: PublicKey
  /// The certificates that came with it, DER: first the one of this key, then its chain. Empty without any.
  public let certificates: [[UInt8]]

  /// What kind of key it is.
  public var type: ClientKeyType { publicKey.type }
  /// Whether the private key may be read. **Advisory**.
  public var isExportable: Bool { item.policy.isExportable }
}

extension PublicKey {
  /// The SHA-256 of the SubjectPublicKeyInfo.
  var hash: [UInt8] { SHA256.hash(subjectPublicKeyInfo) }
}

extension Attribute where Value == Int64 {
  /// 1 for a private key.
  static var keyClass: Self { Self(code: 23) }
  /// 42 RSA, 73 a curve of NIST, 105 Ed25519.
  static var keyType: Self { Self(code: 24) }
  static var keyBits: Self { Self(code: 25) }
}

extension Attribute where Value == Bool {
  static var canSign: Self { Self(code: 32) }
}

extension Attribute where Value == [UInt8] {
  static var subjectPublicKeyInfo: Self { Self(code: 85) }
  static var certificates: Self { Self(code: 86) }
}
