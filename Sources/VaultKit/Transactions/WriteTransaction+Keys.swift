import SealedStorage
import VaultFormat
import VaultKeys
import VaultStorage

extension WriteTransaction {
  /// A change of the header and slots that the file has now.
  mutating func beginKeyChange() throws(VaultError) -> KeyChange {
    try store.refuseShut()
    return store.keyChange
  }

  /// Writes changed keys, and logs that.
  mutating func write(
    _ change: KeyChange, as operation: AuditOperation, detail: String? = nil
  ) throws(VaultError) {
    try set(change)
    try log(operation, detail: detail)
  }
}

extension SealedStore {
  /// A change of header and slots as they are now.
  var keyChange: KeyChange {
    KeyChange(
      header: keys.header, slots: keys.slots, keys: keys.current, previous: keys.previous,
      environment: environment)
  }
}
