import SealedStorage
import VaultFormat
import VaultStorage

extension SealedStore {
  /// The items that open and that the removal of damaged rows would make useless, for each row that they need.
  ///
  /// A row that opens is needed by what is behind it as its PIN. Of a row whose attributes do not open, neither the identifier nor the
  /// kind can be trusted: it may be a PIN that no row of the file has the identifier of, and so it is needed by what is behind that PIN.
  ///
  /// - Parameter removed: The items that are to be removed too. They need nothing.
  mutating func items(
    needing rows: [ItemRow], without removed: Set<ItemID> = []
  ) throws(VaultError) -> [Int64: [Item]] {
    guard !rows.isEmpty else { return [:] }
    let missing = try missingPINs()
    let behind = try items(behind: missing.union(rows.map { ItemID($0.id) })).filter {
      !removed.contains($0.item.id)
    }
    guard !behind.isEmpty else { return [:] }
    var found: [Int64: [Item]] = [:]
    for row in rows {
      let isOpen = (try? open(row)) != nil
      let items = behind.filter { $0.pin == ItemID(row.id) || !isOpen && missing.contains($0.pin) }
      if !items.isEmpty { found[row.row] = items.map(\.item) }
    }
    return found
  }

  /// The PINs that items that open are behind, and that no row has the identifier of.
  mutating func missingPINs() throws(VaultError) -> Set<ItemID> {
    var pins: Set<ItemID> = []
    var walk = ItemWalk(keepingPages: false)
    while let item = try walk.nextReadable(in: &self) {
      if let pin = item.policy.guardingPINItem { pins.insert(pin) }
    }
    for pin in pins where try rows.item(id: pin.stored) != nil { pins.remove(pin) }
    return pins
  }

  /// The items that open and are behind one of these PINs.
  mutating func items(behind pins: Set<ItemID>) throws(VaultError) -> [(item: Item, pin: ItemID)] {
    var found: [(item: Item, pin: ItemID)] = []
    var walk = ItemWalk(keepingPages: false)
    while let item = try walk.nextReadable(in: &self) {
      if let pin = item.policy.guardingPINItem, pins.contains(pin) { found.append((item, pin)) }
    }
    return found
  }
}
