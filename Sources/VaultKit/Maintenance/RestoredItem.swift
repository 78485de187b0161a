import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// An item of a vault that a restored one replaces.
public struct RestoredItem: Sendable {
  /// Its identifier.
  public let id: ItemID
  /// Its name, if it has one.
  public let name: String?
  /// Its kind; `nil` for an item that does not open.
  public let kind: ItemKind?
  let state: State?

  /// Two items of one identifier with equal states are the same, but for their counters.
  struct State: Equatable {
    let version: UInt64
    let modified: Instant

    init(_ item: Item) { (version, modified) = (item.version, item.modified) }
  }

  init(_ item: Item) { (id, name, kind, state) = (item.id, item.name, item.kind, State(item)) }

  /// One that does not open.
  init(damaged id: ItemID) { (self.id, name, kind, state) = (id, nil, nil, nil) }
}

/// What a restore over a vault takes from it.
package struct RestoreLosses: Sendable {
  /// The items that the backup does not have.
  package let dropped: [RestoredItem]
  /// The items that the backup has in another state.
  package let changed: [RestoredItem]

  /// - Parameter kept: The items of the backup.
  init(of point: RestorePoint?, keeping kept: [ItemID: RestoredItem.State]) {
    let items = point?.items ?? []
    dropped = items.filter { kept[$0.id] == nil }
    changed = items.filter { kept[$0.id] != nil && kept[$0.id] != $0.state }
  }
}
