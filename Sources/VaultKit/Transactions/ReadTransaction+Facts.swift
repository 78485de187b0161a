import SealedStorage
package import VaultFormat
import VaultStorage

extension ReadTransaction {
  /// The vault that this is a state of.
  package var vault: VaultID { store.vault }

  /// The clocks of this process.
  package var clock: any VaultClock { store.environment.clock }

  /// The version of an item's secret; it changes when the secret is replaced.
  package mutating func materialVersion(of id: ItemID) throws(VaultError) -> UInt64 {
    try store.row(of: id).material
  }
}
