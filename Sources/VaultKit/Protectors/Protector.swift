public import SecretMemory
import VaultCrypto

/// Who keeps the device key: a file, the desktop's Secret Service, later a TPM.
///
/// Calls block and never run inside a transaction. Nothing falls back from one protector to another. Only the one owner
/// of device keys (`DeviceKeys`, decision 13) stores, promotes and deletes keys.
public protocol Protector: Sendable {
  /// Which kind the header names.
  var kind: ProtectorKind { get }
  /// What is there for this vault, asked before anything is created.
  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState
  /// The device key with this id.
  ///
  /// - Throws: `deviceKeyAbsent`, `deviceKeyLocked`, `deviceKeyUnavailable`, `deviceKeyWrong`, `deviceKeyDamaged`.
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey
  /// Keeps a key: durable when this returns, read back and compared. Never replaces one.
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError)
  /// Deletes a key: one that nothing names yet, or one that the vault has replaced, after the vault was opened with
  /// another key.
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError)
  /// The key has opened the vault and stands in the place of `old` from now on.
  func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID) throws(VaultError)
  /// The ids of all keys of this vault that it keeps, as far as they can be read now.
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID]
  /// Keeps others from removing keys of this vault while one is on its way into the vault's header.
  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock?
  /// Remembers, outside of the vault file, how many commits the vault has had. Best effort, never an error.
  func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID)
  /// The number remembered last; a vault file with fewer commits is an old copy that was put back.
  func seenSequence(under key: DeviceKeyID, of vault: VaultID) -> UInt64?
}

extension Protector {
  /// A protector that cannot remember remembers nothing.
  public func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID) {}
  /// A protector that cannot remember knows nothing.
  public func seenSequence(under key: DeviceKeyID, of vault: VaultID) -> UInt64? { nil }

  /// A protector without a place for a lock has none: then nobody may remove its keys but who made them.
  public func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? { nil }

  /// Nothing to do where every key has a place of its own.
  public func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID)
    throws(VaultError)
  {}
}

/// What a protector holds for a vault.
public enum ProtectorState: Sendable {
  /// No key of this vault.
  case absent
  /// It may hold one; a person has to unlock it first.
  case locked
  /// It cannot be reached, and why.
  case unavailable(VaultError)
  /// It holds keys of this vault.
  case present
}

/// The key that opens a vault's slots: 32 random bytes. Nothing else is derived from it but its id.
public struct DeviceKey: ~Copyable, Sendable {
  let bytes: SecretBytes
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

  func isEqual(to other: borrowing DeviceKey) -> Bool { bytes.isEqualInConstantTime(to: other.bytes) }

  static func fresh(random: any RandomSource) throws(VaultError) -> DeviceKey {
    try DeviceKey(try crypto { () throws(CryptoError) in try random.secret(32) })
  }

  /// Lends the 32 bytes to a protector that stores them.
  public func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.expose(body)
  }
}
