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

  /// What becomes of an item's state on its way.
  typealias StateChange = (inout Session, Item, ItemRow, StateRow) throws(VaultError) -> StateRow

  init(head: consuming Head, change: KeyChange) {
    self.head = head
    keys = change.keys
    previous = change.previous
  }

  func writeKeys(_ change: KeyChange, to store: inout Store) throws(VaultError) {
    let row = change.row
    try stored { () throws(StorageError) in
      try store.replaceSlots(change.slots)
      try store.setHeader(row)
    }
  }

  /// Copies the items that `accept` wants, with their material, state and index rows. Seals are copied as they are.
  ///
  /// - Parameter unreadable: Called with each item whose attributes or state do not open, and the reason; the item is left
  ///   out. Without it, such an item is an error.
  mutating func copyItems(
    from source: inout Session, to store: inout Store, _ progress: (VerifyProgress) -> Void,
    unreadable: ((ItemID, VaultError) -> Void)? = nil, _ accept: (Item) throws(VaultError) -> Bool,
    state: StateChange = { _, _, _, state in state }
  ) throws(VaultError) {
    let total = Int(clamping: try source.head().itemCount)
    var last = Int64.min
    var done = 0
    while true {
      var batch: [ItemRow] = []
      try source.store.forEachItem(after: last, limit: 256) { row throws(VaultError) in
        batch.append(row)
        return true
      }
      guard let end = batch.last else { return }
      last = end.row
      for row in batch {
        let item: Item
        do throws(VaultError) {
          item = try source.open(row)
          _ = try source.state(of: row)
        } catch {
          guard let unreadable, error.isUnreadable else { throw error }
          unreadable(ItemID(row.id), error)
          continue
        }
        if try accept(item) { try copy(row, item, from: &source, to: &store, state) }
      }
      done += batch.count
      progress(VerifyProgress(done: done, total: total))
    }
  }

  private mutating func copy(
    _ row: ItemRow, _ item: Item, from source: inout Session, to store: inout Store, _ change: StateChange
  ) throws(VaultError) {
    let keys = try keys(of: row.generation)
    try stored { () throws(StorageError) in try store.insertItem(row) }
    count(keys.summand.item(row))
    head.itemCount += 1
    if let material = try stored({ () throws(StorageError) in try source.store.material(row: row.row) }) {
      try stored { () throws(StorageError) in try store.setMaterial(material, row: row.row) }
      count(keys.summand.material(row.row, material))
    }
    if let state = try stored({ () throws(StorageError) in try source.store.state(row: row.row) }) {
      try setState(try change(&source, item, row, state), row: row.row, in: &store)
    }
    for value in keys.blindIndex.values(of: item.attributes) {
      try stored { () throws(StorageError) in _ = try store.insertBlind(value: value, row: row.row) }
      count(keys.summand.blind(row.row, value))
    }
  }

  mutating func setState(_ state: StateRow, row: Int64, in store: inout Store) throws(VaultError) {
    let keys = try keys(
      of: try crypto { () throws(CryptoError) in try RecordSeal.generation(of: state.body) })
    try stored { () throws(StorageError) in try store.setState(state, row: row) }
    count(keys.summand.state(row, state.body))
  }

  /// The log of the copy begins with the next segment of the same chain; no entry comes along.
  mutating func beginSegment(in store: inout Store) throws(VaultError) {
    let row = SegmentRow(number: head.segment + 1, first: head.nextAudit, previous: head.auditMAC, start: [])
    try stored { () throws(StorageError) in try store.insertSegment(row) }
    head.begin(row)
  }

  /// The empty segment of a backup goes into what is restored from it: the next one is chained to it, so nobody can
  /// begin a log with a later segment and call that a restore.
  func keepSegment(of source: inout Session, in store: inout Store) throws(VaultError) {
    try stored { () throws(StorageError) in
      for row in try source.store.segments() { try store.insertSegment(row) }
    }
  }

  /// The first entry of the new file's own log.
  mutating func log(
    _ note: AuditNote, to store: inout Store, _ vault: VaultID, _ environment: VaultEnvironment
  ) throws(VaultError) {
    try head.append(note, keys, vault, environment, to: &store)
    head.seals += 1
  }

  mutating func writeHead(to store: inout Store, _ vault: VaultID, _ environment: VaultEnvironment)
    throws(VaultError)
  {
    head.seals += 1
    try head.checkBounds()
    let content = head.encoded
    let body = try crypto { () throws(CryptoError) in
      try content.expose { span throws(CryptoError) in
        try keys.head.seal(span, aad: AssociatedData.head(vault), random: environment.random)
      }
    }
    try stored { () throws(StorageError) in try store.setHead(body) }
  }

  private func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
    if generation == keys.generation { return keys }
    guard let previous, previous.generation == generation else {
      throw VaultError(.damaged, "a row of the vault names a generation of keys that does not exist")
    }
    return previous
  }

  private mutating func count(_ summand: Sum256) {
    head.sum += summand
    head.summedRows += 1
  }
}

extension Head {
  /// The head of a copy that has no row yet: rows, chain and seals go on where the source is.
  consuming func forBackup() -> Head {
    var copy = self
    copy.itemCount = 0
    copy.summedRows = 0
    copy.sum = Sum256()
    copy.inode = 0
    copy.cleaningPending = false
    copy.isCopy = false
    copy.rotation = RotationState()
    return copy
  }

  /// Adds an audit entry: sealed for the device key, chained for whoever holds the audit factor.
  mutating func append(
    _ note: AuditNote, _ keys: GenerationKeys, _ vault: VaultID, _ environment: VaultEnvironment,
    to store: inout Store
  ) throws(VaultError) {
    let sequence = nextAudit
    let record = note.encoded(for: environment.caller, at: environment.clock)
    let body = try crypto { () throws(CryptoError) in
      try keys.audit.seal(
        record, aad: AssociatedData.audit(vault, sequence: sequence), random: environment.random)
    }
    let mac = AuditChain.mac(auditKey, previous: auditMAC, sequence: sequence, record: record)
    try stored { () throws(StorageError) in
      try store.appendAudit(AuditRow(sequence: sequence, body: body, mac: mac))
    }
    auditKey = AuditChain.next(auditKey)
    auditMAC = mac
    nextAudit += 1
  }

  /// The keys move on to a segment's first entry.
  mutating func begin(_ row: SegmentRow) {
    segment = row.number
    segmentFirst = row.first
    auditKey = AuditChain.firstKey(of: nextChainKey)
    nextChainKey = AuditChain.nextChainKey(after: nextChainKey)
    auditMAC = row.anchor
  }
}
