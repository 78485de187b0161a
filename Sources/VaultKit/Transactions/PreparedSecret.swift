import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// A secret that was opened before the write transaction that uses it, with the values that show whether it is
/// unchanged: the item's row (policy, versions and seal), the session, the `config`. Only that transaction returns
/// the secret.
package struct PreparedSecret: ~Copyable, Sendable {
  let secret: SecretBytes
  let item: Item
  let row: ItemRow
  private let session: UInt64
  private let config: UInt64

  init(secret: consuming SecretBytes, item: Item, row: ItemRow, session: UInt64, config: UInt64) {
    self.secret = secret
    self.item = item
    self.row = row
    self.session = session
    self.config = config
  }

  func isOf(_ row: ItemRow, in store: borrowing SealedStore) -> Bool {
    isOf(store) && row == self.row
  }

  /// Whether the secret was opened with the present keys of the session.
  func isOf(_ store: borrowing SealedStore) -> Bool {
    store.identity == self.session && store.keys.header.config == config
  }
}
