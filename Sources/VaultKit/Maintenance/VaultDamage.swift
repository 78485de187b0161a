import SealedStorage
import VaultFormat
import VaultStorage

/// What of a vault does not open, found without its secrets: one report for each command that shows, checks or copies the whole vault.
/// What a newer version of this program made is not damage.
package struct VaultDamage: Sendable {
  /// Why the vault's own state does not open; `nil` where it does.
  package fileprivate(set) var state: VaultError?
  /// The items whose attributes or state do not open, with the reason; also those that a newer version made.
  package fileprivate(set) var items: [ItemListing.Unreadable] = []
  /// The items that open, and whose PIN item is missing or damaged: they can no longer be used.
  package fileprivate(set) var behindDamagedPIN: [Item] = []

  /// The items of ``items`` that are damaged.
  package var damagedItems: Set<ItemID> { Set(items.lazy.filter { $0.error.code == .damaged }.map(\.id)) }
}

extension VaultCore {
  /// What does not open now.
  ///
  /// - Parameter needsKeys: Whether a PIN whose key only the passcode opens is an error, and not passed over.
  /// - Throws: ``VaultError/Code/locked``, with `needsKeys`.
  package func damage(needsKeys: Bool = false) throws(VaultError) -> VaultDamage {
    var transaction = try beginReading()
    return try transaction.store.damage(needsKeys: needsKeys)
  }
}

extension SealedStore {
  mutating func damage(needsKeys: Bool) throws(VaultError) -> VaultDamage {
    var found = VaultDamage()
    do throws(VaultError) { _ = try vaultState() } catch {
      guard error.code == .damaged else { throw error }
      found.state = error
    }
    var guarded = GuardedItems()
    var walk = ItemWalk(keepingPages: false)
    var batch: [Item] = []
    // In batches, so that a long walk keeps no item. A batch that is not full is the last.
    repeat {
      batch.removeAll(keepingCapacity: true)
      while batch.count < Self.batchCount, let next = try walk.nextRow(in: &self) {
        switch next {
        case .item(let item): batch.append(item)
        case .damaged(let id, let error): found.items.append(.init(id, error))
        }
      }
      batch.forEach { guarded.note($0) }
      let (damaged, pins) = try damagedStates(of: batch, needsKeys: needsKeys)
      found.items += damaged
      pins.forEach { guarded.noteDamage(of: $0) }
    } while batch.count == Self.batchCount
    for item in found.items { guarded.note(item.error, of: item.id) }
    found.behindDamagedPIN = try items(guarded.behindDamagedPIN)
    return found
  }

  /// The items with these identifiers.
  mutating func items(_ ids: [ItemID]) throws(VaultError) -> [Item] {
    var items: [Item] = []
    for id in ids { items.append(try open(row(of: id))) }
    return items
  }

  /// The items whose state does not open, and the PINs whose data does not.
  private mutating func damagedStates(of items: [Item], needsKeys: Bool) throws(VaultError) -> (
    items: [ItemListing.Unreadable], pins: Set<ItemID>
  ) {
    let items = items.filter(\.kind.hasState)
    var damaged: [ItemListing.Unreadable] = []
    var pins: Set<ItemID> = []
    try forEachState(of: items, damaged: { damaged.append(.init($0, $1)) }) { _, _ in }
    for pin in items where pin.kind.rules.relations.guardsOthers {
      let row = try row(of: pin.id)
      let material = try rows.material(row: row.row)
      if pin.hasSecret, try isDamaged(material, of: row, item: pin, needsKey: needsKeys) {
        pins.insert(pin.id)
      }
    }
    rows.releasePages()
    return (damaged, pins)
  }

  private static let batchCount = 1024
}

/// Finds, in a walk over all items, those that a damaged PIN makes unusable.
///
/// The rule: this version understands the item, its policy names a PIN, and that PIN is missing (no program removes a PIN before the
/// items behind it, format section 11) or has a damaged part. A PIN that a later version made is not damaged. An item with a damaged
/// part of its own is named for that part, and not again.
struct GuardedItems {
  private var guarded: [(item: ItemID, pin: ItemID)] = []
  private var pins: Set<ItemID> = []
  private var newer: Set<ItemID> = []
  private var damaged: Set<ItemID> = []

  /// Notes an item whose attributes open.
  mutating func note(_ item: Item) {
    if item.kind.rules.relations.guardsOthers || item.isOfLaterVersion { pins.insert(item.id) }
    if let pin = item.neededPINItem { guarded.append((item.id, pin)) }
  }

  /// Notes that a part of an item does not open. One that a later version made outweighs damage in another part.
  mutating func note(_ error: VaultError, of item: ItemID) {
    if error.isNewerVersion { newer.insert(item) } else { damaged.insert(item) }
  }

  /// Notes that a part of an item is damaged.
  mutating func noteDamage(of item: ItemID) { damaged.insert(item) }

  /// The items that can no longer be used, after the walk.
  var behindDamagedPIN: [ItemID] {
    let usable = pins.subtracting(damaged).union(newer)
    return guarded.lazy.filter { !damaged.contains($0.item) && !usable.contains($0.pin) }.map(\.item)
  }
}
