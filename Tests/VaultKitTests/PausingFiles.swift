import Synchronization
import Testing
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

/// Key files; when a key is loaded, something happens first, once it is armed.
final class LoadingFiles: Protector {
  let files: FileProtector
  private let isArmed = Atomic(false)
  private let plant: @Sendable () throws -> Void

  init(files: FileProtector, plant: @escaping @Sendable () throws -> Void) {
    self.files = files
    self.plant = plant
  }

  func arm() { isArmed.store(true, ordering: .relaxed) }

  var kind: ProtectorKind { .file }
  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { try files.probe(vault) }
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if isArmed.exchange(false, ordering: .relaxed) {
      #expect(throws: Never.self) { try plant() }
    }
    return try files.loadKey(key, of: vault)
  }
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    try files.storeKey(key, of: vault)
  }
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    try files.deleteKey(key, of: vault)
  }
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { try files.keys(of: vault) }
}
