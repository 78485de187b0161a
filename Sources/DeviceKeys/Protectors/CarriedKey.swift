package import SecretMemory
import Synchronization
package import VaultFormat

/// A device key on its way from one owner of a vault to another. It is kept in the memory of this process alone.
package final class CarriedKey: Protector {
  private let held: Mutex<(id: DeviceKeyID, bytes: SharedSecret)?>

  /// Without a key: the next one that is stored is carried.
  package init() { held = Mutex(nil) }

  /// - Throws: ``VaultError/Code/deviceKeyDamaged`` unless there are 32 bytes.
  package init(_ bytes: SharedSecret) throws(VaultError) {
    let key = try DeviceKey(bytes.bytes.copy())
    held = Mutex((key.id, bytes))
  }

  /// A key that another protector keeps.
  package convenience init(_ key: borrowing DeviceKey) {
    self.init()
    let (id, bytes) = (key.id, SharedSecret(key.expose { SecretBytes(copying: $0) }))
    held.withLock { $0 = (id, bytes) }
  }

  package var kind: ProtectorKind { .file }

  /// The key and its id; nil if none is carried.
  package var carried: (id: DeviceKeyID, bytes: SharedSecret)? { held.withLock { $0 } }

  package func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState {
    carried == nil ? .absent : .present
  }

  package func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    guard let carried, carried.id == key else {
      throw VaultError(.deviceKeyAbsent, "the device key that came is not the one that the vault names")
    }
    return try DeviceKey(carried.bytes.bytes.copy())
  }

  package func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    let (id, bytes) = (key.id, SharedSecret(key.expose { SecretBytes(copying: $0) }))
    held.withLock { $0 = (id, bytes) }
  }

  package func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    held.withLock { if $0?.id == key { $0 = nil } }
  }

  package func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { carried.map { [$0.id] } ?? [] }
}
