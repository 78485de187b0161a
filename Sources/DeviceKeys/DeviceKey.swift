public import VaultFormat
public import SecretMemory
package import VaultCrypto

/// The key that opens a vault's slots: 32 random bytes. Only its id is derived from it.
public struct DeviceKey: ~Copyable, Sendable {
  package let bytes: SecretBytes
  /// `HMAC(DK, "vault/1/key-id")[0..16]`, which the header names.
  public let id: DeviceKeyID

  /// - Throws: ``VaultError/Code/deviceKeyDamaged`` unless there are 32 bytes.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.byteCount == 32 else {
      throw VaultError(.deviceKeyDamaged, "the device key is damaged: it is not 32 bytes")
    }
    let code = KeyedHMAC(key: bytes).code(for: Labels.keyID.utf8)
    id = DeviceKeyID(Array(code.prefix(16)))!
    self.bytes = bytes
  }

  /// - Parameter place: Where the bytes were read, for the error.
  init(_ bytes: consuming SecretBytes, in place: String) throws(VaultError) {
    guard bytes.byteCount == 32 else {
      throw VaultError(
        .deviceKeyDamaged,
        "the device key is damaged: \(place) has \(bytes.byteCount == 0 ? "no" : "not 32") bytes",
        hint: .putKeyBack)
    }
    try self.init(bytes)
  }

  package func isEqual(to other: borrowing DeviceKey) -> Bool { bytes.isEqualInConstantTime(to: other.bytes) }

  package static func fresh(random: any RandomSource) throws(VaultError) -> DeviceKey {
    try DeviceKey(try random.newSecret(32))
  }

  /// Lends the 32 bytes to a protector that stores them.
  public func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.expose(body)
  }
}
