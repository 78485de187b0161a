import VaultKit

/// Key files with a step between the storing of a key and the commit that names it. Loading may be refused.
struct PausingFiles: Protector {
  let files: FileProtector
  var refusesLoading = false
  var refusesDeleting: DeviceKeyID?
  let afterStoring: @Sendable () throws(VaultError) -> Void
  var kind: ProtectorKind { .file }

  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { try files.probe(vault) }
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if refusesLoading { throw VaultError(.busy, "not now") }
    return try files.loadKey(key, of: vault)
  }
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    try files.storeKey(key, of: vault)
    try afterStoring()
  }
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    if key == refusesDeleting { throw VaultError(.io, "cannot remove it") }
    try files.deleteKey(key, of: vault)
  }
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { try files.keys(of: vault) }
  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? { try files.lock(vault) }
}
