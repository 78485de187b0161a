import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// Rows on their way into a new file under the same root keys: counted and summed as they arrive.
struct VaultCopy: ~Copyable {
  var head: Head
  let keys: GenerationKeys
  private let previous: GenerationKeys?

  /// Changes the state of an item for the copy.
  typealias StateChange = (inout SealedStore, Item, ItemRow, StateRow) throws(VaultError) -> StateRow

  init(head: consuming Head, change: KeyChange) {
    self.head = head
    keys = change.keys
    previous = change.previous
  }

  func writeKeys(_ change: KeyChange, to rows: inout VaultRows) throws(VaultError) {
    let row = change.row
    try rows.replaceSlots(change.slots)
    try rows.setHeader(row)
    if change.header.keepsFormer { try rows.createFormer() }
  }

  /// Copies the items that `accept` wants, with their material, state and index rows. Seals are copied as they are.
  ///
  /// - Parameters:
  ///   - unreadable: Called with each item whose attributes or state do not open, and the reason; the item is left out
  ///     unless it throws.
  ///   - damaged: Called with each item that is copied although its secret is missing or does not open.
  /// - Returns: The items that are copied although the PIN that guards them is missing or damaged.
  mutating func copyItems(
    from source: inout SealedStore, to rows: inout VaultRows,
    _ progress: (VerifyProgress) throws(VaultError) -> Void,
    unreadable: (ItemID, VaultError) throws(VaultError) -> Void, damaged: (Item) -> Void,
    _ accept: (Item) throws(VaultError) -> Bool,
    state: StateChange = { _, _, _, state in state }
  ) throws(VaultError) -> [ItemID] {
    let total = Int(clamping: try source.head().itemCount)
    var guarded = GuardedItems()
    var last = Int64.min
    var done = 0
    while true {
      let batch = try source.rows.items(after: last, limit: 256)
      guard let end = batch.last else { return guarded.behindDamagedPIN }
      last = end.row
      for row in batch {
        let item: Item
        do throws(VaultError) {
          item = try source.open(row)
          _ = try source.state(of: row)
        } catch {
          guard error.isUnreadable else { throw error }
          try unreadable(ItemID(row.id), error)
          guarded.note(error, of: ItemID(row.id))
          continue
        }
        guard try accept(item) else { continue }
        let material = item.hasSecret ? try source.rows.material(row: row.row) : nil
        guarded.note(item)
        if item.hasSecret, try source.isDamaged(material, of: row, item: item) {
          guarded.noteDamage(of: item.id)
          damaged(item)
        }
        try copy(row, item: item, material, from: &source, to: &rows, change: state)
      }
      source.rows.releasePages()
      try source.refuseLockedMeanwhile()
      done += batch.count
      try progress(VerifyProgress(done: done, total: total))
    }
  }

  private mutating func copy(
    _ row: ItemRow, item: Item, _ material: MaterialRow?, from source: inout SealedStore,
    to rows: inout VaultRows, change: StateChange
  ) throws(VaultError) {
    let keys = try keys(of: row.generation)
    var copied = ItemRows(row.row, under: keys, item: row)
    copied.material = material
    copied.index = keys.blindIndex.values(of: item)
    copied.former = try source.formerRows(of: row)
    try rows.insertItem(row)
    head.itemCount += 1
    if let material { try rows.setMaterial(material, row: row.row) }
    for former in copied.former { try rows.insertFormer(former, row: row.row) }
    for value in copied.index { _ = try rows.insertBlind(value: value, row: row.row) }
    count(copied)
    if let state = try source.state(of: row) {
      try setState(try change(&source, item, row, state.row), row: row.row, in: &rows)
    }
  }

  mutating func setState(_ state: StateRow, row: Int64, in rows: inout VaultRows) throws(VaultError) {
    var copied = ItemRows(row, under: try keys(of: try GenerationKeys.generation(of: state.body)))
    copied.state = state
    try rows.setState(state, row: row)
    count(copied)
  }

  /// The log of the copy begins with the next segment of the same chain. No entry is copied.
  mutating func beginSegment(in rows: inout VaultRows) throws(VaultError) {
    let row = SegmentRow(number: head.segment + 1, first: head.nextAudit, previous: head.auditMAC, start: [])
    try rows.insertSegment(row)
    head.begin(row)
  }

  /// Copies the empty segment of a backup into the restored vault. The next segment is chained to it, so a log that
  /// begins with a later segment cannot pass for a restored one.
  func keepSegment(of source: inout SealedStore, in rows: inout VaultRows) throws(VaultError) {
    for row in try source.rows.segments() { try rows.insertSegment(row) }
  }

  /// The first entry of the new file's own log.
  mutating func log(
    _ note: AuditNote, to rows: inout VaultRows, vault: VaultID, environment: VaultEnvironment
  ) throws(VaultError) {
    try head.append(note, keys: keys, vault: vault, environment: environment, to: &rows)
    head.seals += 1
  }

  mutating func writeHead(to rows: inout VaultRows, vault: VaultID, environment: VaultEnvironment)
    throws(VaultError)
  {
    head.seals += 1
    try head.checkBounds()
    try rows.setHead(try keys.sealHead(head, in: vault, random: environment.random))
  }

  private func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
    if generation == keys.generation { return keys }
    guard let previous, previous.generation == generation else {
      throw VaultError(.damaged, "a row of the vault names a generation of keys that does not exist")
    }
    return previous
  }

  private mutating func count(_ copied: ItemRows) {
    head.sum += copied.sum
    head.summedRows += copied.count
  }
}

extension Head {
  /// The head of a copy that has no rows yet. Row numbers, chain and seals continue those of the source.
  consuming func forBackup() -> Head {
    var copy = self
    copy.itemCount = 0
    copy.summedRows = 0
    copy.sum = Sum256()
    copy.fileIdentity = 0
    copy.cleaningPending = false
    copy.isCopy = false
    copy.nextTokenEnd = NextTokenEnd()
    copy.rotation = RotationState()
    copy.recorded = copy.recorded.withoutBoot
    return copy
  }
}
