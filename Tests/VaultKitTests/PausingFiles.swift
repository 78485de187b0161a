import Synchronization
import Testing
import VaultKit

/// A protector of a test: key files, but for what it does otherwise.
protocol WrappedFiles: Protector {
  var files: FileProtector { get }
}

extension WrappedFiles {
  var kind: ProtectorKind { .file }
  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { try files.probe(vault) }
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    try files.loadKey(key, of: vault)
  }
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    try files.storeKey(key, of: vault)
  }
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    try files.deleteKey(key, of: vault)
  }
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { try files.keys(of: vault) }
}

/// Key files; after each commit that is noted, something may happen.
struct NotingFiles: WrappedFiles {
  let files: FileProtector
  let afterNoting: @Sendable () -> Void

  func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    files.noteCommit(commit, under: key, of: vault)
    afterNoting()
  }
  func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    files.seenCommit(under: key, of: vault)
  }
}

/// Key files without a witness.
struct Forgetful: WrappedFiles {
  let files: FileProtector
}

/// Key files without a lock.
struct LocklessFiles: WrappedFiles {
  let files: FileProtector
}

/// Key files with a step between the storing of a key and the commit that names it. Loading may be refused, and the lock.
struct PausingFiles: WrappedFiles {
  let files: FileProtector
  var refusesLoading = false
  var refusesDeleting: DeviceKeyID?
  var refusesLock = false
  let afterStoring: @Sendable () throws(VaultError) -> Void

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
  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    if refusesLock { throw VaultError(.busy, "not now") }
    return try files.lock(vault)
  }
}

/// Key files; when a key is loaded, something happens first, once it is armed.
final class LoadingFiles: WrappedFiles {
  let files: FileProtector
  private let isArmed = Atomic(false)
  private let plant: @Sendable () throws -> Void

  init(files: FileProtector, plant: @escaping @Sendable () throws -> Void) {
    self.files = files
    self.plant = plant
  }

  func arm() { isArmed.store(true, ordering: .relaxed) }

  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if isArmed.exchange(false, ordering: .relaxed) {
      #expect(throws: Never.self) { try plant() }
    }
    return try files.loadKey(key, of: vault)
  }
}
