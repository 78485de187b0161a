import SealedStorage
import VaultFormat
import VaultStorage

extension WriteTransaction {
  /// Replaces rows of an item by others: adds them where there was none, and removes them where there is none any longer.
  ///
  /// All that changes an item or a state comes here, because this keeps with the rows what depends on them: S, the counts and the
  /// earliest expiry of the head row, the log, the rotation that waits for a row, and the cleaning of deleted secrets. Everything
  /// is sealed before it begins. The row of the item comes first, so a duplicate is refused before anything is written.
  ///
  /// - Parameters:
  ///   - old: The rows as they are counted. With the row of an item, rows that were never counted go too.
  ///   - new: The rows that take their place.
  ///   - note: What is logged.
  ///   - isRepair: Whether something else may have added the old rows: the counts then never fall so low that a reader would
  ///     refuse them. A repair counts all rows again at its end.
  mutating func replace(
    _ old: ItemRows, with new: ItemRows, noting note: AuditNote? = nil, isRepair: Bool = false
  ) throws(VaultError) {
    if let item = new.item {
      if old.item == nil { try store.rows.insertItem(item) } else { _ = try store.rows.updateItem(item) }
    }
    let operation = changes.begin()
    try replaceMaterial(old, new, isRepair: isRepair)
    try replaceState(old, new, isRepair: isRepair)
    for value in old.index where !new.index.contains(value) {
      guard try store.rows.deleteBlind(value: value, row: old.number) || isRepair else { continue }
      try count(old.sum(ofIndex: value), nil, isRepair: isRepair)
    }
    for value in new.index where !old.index.contains(value) {
      _ = try store.rows.insertBlind(value: value, row: new.number)
      try count(nil, new.sum(ofIndex: value))
    }
    try replaceFormer(old, new, isRepair: isRepair)
    try countItem(old, new, isRepair: isRepair)
    changes.isDirty = true
    if let note { try log(note) }
    changes.end(operation)
  }

  private mutating func replaceMaterial(
    _ old: ItemRows, _ new: ItemRows, isRepair: Bool
  ) throws(VaultError) {
    let isLost = old.hasSecret && !new.hasSecret || old.item != nil && new.item == nil
    if let material = new.material {
      try store.rows.setMaterial(material, row: new.number)
    } else if isLost {
      _ = try store.rows.deleteMaterial(row: old.number)
    }
    try count(old.materialSum, new.materialSum, isRepair: isRepair)
    if isLost || old.material != nil { changes.needsCleaning = true }
    if isLost, let row = old.item { resumeRotation(after: row) }
  }

  private mutating func replaceState(_ old: ItemRows, _ new: ItemRows, isRepair: Bool) throws(VaultError) {
    if let state = new.state {
      try store.rows.setState(state, row: new.number)
      noteSeal(of: try GenerationKeys.generation(of: state.body))
    } else if old.item != nil && new.item == nil {
      _ = try store.rows.deleteState(row: old.number)
    }
    try count(old.stateSum, new.stateSum, isRepair: isRepair)
  }

  private mutating func replaceFormer(_ old: ItemRows, _ new: ItemRows, isRepair: Bool) throws(VaultError) {
    for former in old.former where !new.former.contains(former) {
      guard try store.rows.deleteFormer(version: former.version, row: old.number) || isRepair else {
        continue
      }
      try count(old.sum(of: former), nil, isRepair: isRepair)
      changes.needsCleaning = true
    }
    for former in new.former where !old.former.contains(former) {
      try keepFormer()
      try store.rows.insertFormer(former, row: new.number)
      changes.seals += 1
      try count(nil, new.sum(of: former))
    }
  }

  /// Makes the table of former secrets, if there is none: from then on, an older program does not open the vault.
  private mutating func keepFormer() throws(VaultError) {
    guard try !store.rows.hasFormer() else { return }
    guard head.config == store.keys.header.config else {
      throw VaultError(.busy, "the vault's keys were changed in the same step", hint: "try again")
    }
    try store.rows.createFormer()
    try set(store.keyChange)
  }

  /// The last step: the row of a removed item is deleted here.
  private mutating func countItem(_ old: ItemRows, _ new: ItemRows, isRepair: Bool) throws(VaultError) {
    if let item = new.item {
      noteSeal(of: item.generation)
      if item.expires != old.item?.expires { noteExpiry(item.expires) }
      if old.item == nil { head.itemCount += 1 }
    } else if old.item != nil {
      _ = try store.rows.deleteItem(row: old.number)
      guard head.itemCount > 0 || isRepair else { throw Head.miscounted }
      if head.itemCount > 0 { head.itemCount -= 1 }
    }
    try count(old.itemSum, new.itemSum, isRepair: isRepair)
  }

  private mutating func count(_ old: Sum256?, _ new: Sum256?, isRepair: Bool = false) throws(VaultError) {
    let isMissing = isRepair && head.summedRows <= head.itemCount + 1
    try head.count(old, new, keepingRows: isMissing)
  }

  /// Writes items that a rotation has sealed for the current generation.
  mutating func apply(_ items: [MovedItem]) throws(VaultError) {
    let operation = changes.begin()
    for item in items {
      try store.rows.moveItem(item.new)
      if let keys = item.keys { try store.rows.setKeys(keys, row: item.row) }
      if let state = item.newState { try store.rows.setState(state, row: item.row) }
      head.sum += item.sum
      changes.seals += item.seals
    }
    // S counts the index rows that the attributes give, even if one of them is missing from the file.
    for (value, row) in Self.sorted(items, by: \.oldIndex) {
      try store.rows.deleteBlind(value: value.bytes, row: row)
    }
    for (value, row) in Self.sorted(items, by: \.newIndex) {
      try store.rows.insertBlind(value: value.bytes, row: row)
    }
    changes.isDirty = true
    changes.end(operation)
  }

  /// The index values of all items in the order of the index. The values of neighboring rows are far from each other, and in this
  /// order the changes of one page of the index are made together.
  private static func sorted(
    _ items: [MovedItem], by values: (MovedItem) -> [Bytes16]
  ) -> [(value: Bytes16, row: Int64)] {
    items.flatMap { item in values(item).map { (value: $0, row: item.row) } }
      .sorted { ($0.value.high, $0.value.low) < ($1.value.high, $1.value.low) }
  }

  /// The head row counts only seals of the current generation. An item that is not moved yet has another.
  private mutating func noteSeal(of generation: UInt32) {
    if generation == store.keys.current.generation { changes.seals += 1 }
  }

  private mutating func noteExpiry(_ expires: Int64?) {
    guard let expires else { return }
    let earliest = head.earliestExpiry
    head.earliestExpiry = earliest == 0 ? max(expires, 1) : min(earliest, max(expires, 1))
  }
}

extension ItemRows {
  /// Whether the row of the item says that it has a secret.
  fileprivate var hasSecret: Bool { item.map { $0.flags & ItemFlags.hasSecret != 0 } ?? false }
}

extension Head {
  /// Counts what a row that goes has added to S, and what a row that comes adds.
  ///
  /// - Parameter keepingRows: Whether the number of rows stays where a row goes.
  mutating func count(_ old: Sum256?, _ new: Sum256?, keepingRows: Bool = false) throws(VaultError) {
    if let old { sum -= old }
    if let new { sum += new }
    if old == nil, new != nil { summedRows += 1 }
    guard old != nil, new == nil, !keepingRows else { return }
    guard summedRows > 0 else { throw Self.miscounted }
    summedRows -= 1
  }

  static var miscounted: VaultError {
    VaultError(
      .damaged, "the vault has more rows than its head row counts", hint: .verifyAndRestore)
  }
}
