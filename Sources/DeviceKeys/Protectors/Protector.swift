public import VaultFormat

/// Who keeps the device key: a file, the desktop's Secret Service, later a TPM.
///
/// Calls block and never run inside a transaction. Nothing falls back from one protector to another. Only the vault calls what
/// stores, promotes and deletes keys.
public protocol Protector: Sendable {
  /// Which kind the header names.
  var kind: ProtectorKind { get }
  /// What the protector holds for this vault. The vault asks before it creates anything.
  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState
  /// The device key with this id.
  ///
  /// - Throws: `deviceKeyAbsent`, `deviceKeyLocked`, `deviceKeyUnavailable`, `deviceKeyWrong`, `deviceKeyDamaged`.
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey
  /// Stores a key, reads it back and compares it. The key is durable when this returns. Never replaces a key.
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError)
  /// Deletes a key that no file names yet, or one that the vault has replaced, after the vault was opened with another
  /// key.
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError)
  /// Puts a key that has opened the vault in the place of `old`.
  func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID) throws(VaultError)
  /// The ids of all keys of this vault that it keeps, as far as they can be read now.
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID]
  /// Keeps other processes from removing keys of this vault while a new key is on its way into the vault's header.
  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock?
  /// Remembers, outside of the vault file, the last commit of the vault. Best effort, never an error. Several processes may call
  /// it at the same time and late: the number of what is remembered must not go back.
  func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID)
  /// The commit remembered last. A vault file with fewer commits, or without its entry in the log, is an old copy that was put
  /// back, or went on from one. Asked at each opening and before each commit.
  func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit?
}

extension Protector {
  /// A protector that cannot remember remembers nothing.
  public func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {}
  /// A protector that cannot remember knows nothing.
  public func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? { nil }

  /// A protector without a place for a lock has no lock: then only the process that made a key may remove it.
  public func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? { nil }

  /// Does nothing, because every key has its own place.
  public func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID)
    throws(VaultError)
  {}
}
