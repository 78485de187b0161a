package import VaultFormat
package import VaultStorage

/// The rows of a vault file, with the errors of a vault. Here, errors of the store become errors of a vault. Above this
/// type, SQLite is not visible.
///
/// Each method does the same as the method of ``Store`` with that name. A row is still bytes: ``SealedStore`` opens it.
package struct VaultRows: ~Copyable, Sendable {
  private var store: Store
  private let turned: Turned

  /// Opens the file at a path.
  ///
  /// - Parameter patience: How long a statement waits for other processes; `nil` for the usual time.
  /// - Throws: An error that names the path.
  package static func open(
    at path: String, access: Store.Access, patience: Duration? = nil
  ) throws(VaultError) -> VaultRows {
    do throws(StorageError) {
      return VaultRows(
        store: try Store.open(at: path, access: access, patience: patience ?? Store.usualPatience))
    } catch { throw VaultError(error, at: path) }
  }

  /// Opens the copy of a file that was named as a backup, to read it.
  package static func open(backup copy: CopiedFile, named path: String) throws(VaultError) -> VaultRows {
    do throws(StorageError) {
      return VaultRows(store: try Store.open(copy, named: path), backup: path)
    } catch { throw VaultError(error, backupAt: path) }
  }

  /// Makes a backup in an empty file that is open, and opens it to be read.
  package static func create(
    backupIn file: Int32, named path: String, _ body: (inout VaultRows) throws(VaultError) -> Void
  ) throws(VaultError) -> VaultRows {
    let store = try Store.create(in: file, named: path) { store throws(VaultError) in
      try lend(&store, to: body)
    }
    return VaultRows(store: store, backup: path)
  }

  /// Makes the file at a path, complete and durable or not at all.
  @discardableResult
  package static func create(
    at path: String, publishing: () throws(VaultError) -> Void = {},
    _ body: (inout VaultRows) throws(VaultError) -> Void
  ) throws(VaultError) -> VaultRows {
    let store = try Store.create(at: path, publishing: publishing) { store throws(VaultError) in
      try lend(&store, to: body)
    }
    return VaultRows(store: store)
  }

  /// The same in a place that the caller has prepared, and ends.
  package static func create(
    in place: borrowing NewVaultPlace, publishing: () throws(VaultError) -> Void,
    _ body: (inout VaultRows) throws(VaultError) -> Void
  ) throws(VaultError) -> VaultRows {
    let store = try Store.create(in: place, publishing: publishing) { store throws(VaultError) in
      try lend(&store, to: body)
    }
    return VaultRows(store: store)
  }

  private static func lend(
    _ store: inout Store, to body: (inout VaultRows) throws(VaultError) -> Void
  ) throws(VaultError) {
    var rows = VaultRows(store: store)
    let outcome = Result { () throws(VaultError) in try body(&rows) }
    store = rows.store
    try outcome.get()
  }

  private init(store: consuming Store, backup: String? = nil) {
    self.store = store
    turned = Turned(backup: backup)
  }

  package var path: String { store.path }
  package var isReadOnly: Bool { store.isReadOnly }
  package var lacksRoom: Bool { store.lacksRoom }
  package var fileIdentity: UInt64 { store.fileIdentity }
  package var dataVersion: UInt32 { store.dataVersion }
  package mutating func rollback() { store.rollback() }
  package mutating func releasePages() { store.releasePages() }

  // MARK: Calls

  package mutating func beginImmediate() throws(VaultError) { try turned(store.beginImmediate()) }
  package mutating func beginRead() throws(VaultError) { try turned(store.beginRead()) }
  package mutating func commit() throws(VaultError) { try turned(store.commit()) }
  package mutating func header() throws(VaultError) -> HeaderRow { try turned(store.header()) }
  package mutating func setHeader(_ header: HeaderRow) throws(VaultError) {
    try turned(store.setHeader(header))
  }
  package mutating func slots() throws(VaultError) -> [SlotRow] { try turned(store.slots()) }
  package mutating func replaceSlots(_ slots: [SlotRow]) throws(VaultError) {
    try turned(store.replaceSlots(slots))
  }
  package mutating func head() throws(VaultError) -> [UInt8] { try turned(store.head()) }
  package mutating func setHead(_ body: [UInt8]) throws(VaultError) { try turned(store.setHead(body)) }
  package mutating func item(row number: Int64) throws(VaultError) -> ItemRow? {
    try turned(store.item(row: number))
  }
  package mutating func item(id: Bytes16) throws(VaultError) -> ItemRow? { try turned(store.item(id: id)) }
  package mutating func item(name: Bytes16) throws(VaultError) -> ItemRow? {
    try turned(store.item(name: name))
  }
  package mutating func withItem(name: Bytes16, _ body: (ItemFields, _ meta: RawSpan) -> Void)
    throws(VaultError)
  {
    try turned(store.withItem(name: name, body))
  }
  package mutating func item(primaryKey: Bytes16) throws(VaultError) -> ItemRow? {
    try turned(store.item(primaryKey: primaryKey))
  }
  package mutating func insertItem(_ item: ItemRow) throws(VaultError) { try turned(store.insertItem(item)) }
  @discardableResult
  package mutating func updateItem(_ item: ItemRow) throws(VaultError) -> Bool {
    try turned(store.updateItem(item))
  }
  @discardableResult
  package mutating func deleteItem(row number: Int64) throws(VaultError) -> Bool {
    try turned(store.deleteItem(row: number))
  }
  package mutating func scanItems(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemFields, _ meta: RawSpan) -> Bool
  ) throws(VaultError) {
    try turned(store.scanItems(after: number, limit: limit, body))
  }
  package mutating func expired(before time: Int64) throws(VaultError) -> [Int64] {
    try turned(store.expired(before: time))
  }
  package mutating func material(row number: Int64) throws(VaultError) -> MaterialRow? {
    try turned(store.material(row: number))
  }
  package mutating func setMaterial(_ material: MaterialRow, row number: Int64) throws(VaultError) {
    try turned(store.setMaterial(material, row: number))
  }
  @discardableResult
  package mutating func deleteMaterial(row number: Int64) throws(VaultError) -> Bool {
    try turned(store.deleteMaterial(row: number))
  }
  package mutating func state(row number: Int64) throws(VaultError) -> StateRow? {
    try turned(store.state(row: number))
  }
  package mutating func scanStates(
    from first: Int64, _ body: (_ row: Int64, _ revision: UInt64, _ state: RawSpan) -> Bool
  ) throws(VaultError) {
    try turned(store.scanStates(from: first, body))
  }
  package mutating func setState(_ state: StateRow, row number: Int64) throws(VaultError) {
    try turned(store.setState(state, row: number))
  }
  @discardableResult
  package mutating func deleteState(row number: Int64) throws(VaultError) -> Bool {
    try turned(store.deleteState(row: number))
  }
  @discardableResult
  package mutating func insertBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    try turned(store.insertBlind(value: value, row: number))
  }
  @discardableResult
  package mutating func deleteBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    try turned(store.deleteBlind(value: value, row: number))
  }
  package mutating func hasBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    try turned(store.hasBlind(value: value, row: number))
  }
  package mutating func rows(blind value: [UInt8]) throws(VaultError) -> [Int64] {
    try turned(store.rows(blind: value))
  }
  @discardableResult
  package mutating func moveItem(_ item: ItemRow) throws(VaultError) -> Bool {
    try turned(store.moveItem(item))
  }
  @discardableResult
  package mutating func setKeys(_ keys: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    try turned(store.setKeys(keys, row: number))
  }
  package mutating func hasFormer() throws(VaultError) -> Bool { try turned(store.hasFormer()) }
  package mutating func createFormer() throws(VaultError) { try turned(store.createFormer()) }
  package mutating func former(row number: Int64) throws(VaultError) -> [FormerRow] {
    try turned(store.former(row: number))
  }
  package mutating func insertFormer(_ former: FormerRow, row number: Int64) throws(VaultError) {
    try turned(store.insertFormer(former, row: number))
  }
  @discardableResult
  package mutating func deleteFormer(version: UInt64, row number: Int64) throws(VaultError) -> Bool {
    try turned(store.deleteFormer(version: version, row: number))
  }
  @discardableResult
  package mutating func deleteAllFormer() throws(VaultError) -> Int { try turned(store.deleteAllFormer()) }
  package mutating func letLogGrow(_ may: Bool) throws(VaultError) { try turned(store.letLogGrow(may)) }
  package mutating func appendAudit(_ entry: AuditRow) throws(VaultError) {
    try turned(store.appendAudit(entry))
  }
  @discardableResult
  package mutating func updateAudit(_ entry: AuditRow) throws(VaultError) -> Bool {
    try turned(store.updateAudit(entry))
  }
  @discardableResult
  package mutating func deleteAudit(sequence: UInt64) throws(VaultError) -> Bool {
    try turned(store.deleteAudit(sequence: sequence))
  }
  package mutating func auditEntries(from first: UInt64 = 0, limit: Int? = nil) throws(VaultError)
    -> [AuditRow]
  {
    try turned(store.auditEntries(from: first, limit: limit))
  }
  package mutating func insertSegment(_ segment: SegmentRow) throws(VaultError) {
    try turned(store.insertSegment(segment))
  }
  package mutating func segments() throws(VaultError) -> [SegmentRow] { try turned(store.segments()) }
  @discardableResult
  package mutating func deleteSegments(through number: UInt64) throws(VaultError) -> Int {
    try turned(store.deleteSegments(through: number))
  }
  package mutating func checkpoint(truncate: Bool, isPatient: Bool = true) throws(VaultError) -> Bool {
    try turned(store.checkpoint(truncate: truncate, isPatient: isPatient))
  }
  package mutating func writeOut() throws(VaultError) { try turned(store.writeOut()) }
  package mutating func integrityCheck(progress: (() -> Bool)? = nil) throws(VaultError) -> [String] {
    try turned(store.integrityCheck(progress: progress))
  }
  package mutating func deleteImpossible(
    from limit: UInt64, afterEntry entry: UInt64, afterSegment segment: UInt64
  ) throws(VaultError) -> (all: Int64, items: Int64) {
    try turned(store.deleteImpossible(from: limit, afterEntry: entry, afterSegment: segment))
  }
  package mutating func vacuum() throws(VaultError) { try turned(store.vacuum()) }

  // MARK: Walks

  /// The next rows of items, as they are.
  package mutating func items(after number: Int64, limit: Int) throws(VaultError) -> [ItemRow] {
    var found: [ItemRow] = []
    try store.forEachItem(after: number, limit: limit) { row throws(VaultError) in
      found.append(row)
      return true
    }
    return found
  }

  package mutating func forEachBlind(
    _ body: (_ value: [UInt8], _ row: Int64) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try store.forEachBlind(body)
  }

  package mutating func forEachSummed(_ body: (SummedRow) throws(VaultError) -> Void) throws(VaultError) {
    try store.forEachSummed(body)
  }

  package mutating func forEachSummed(
    of table: SummedRow.Table, _ body: (SummedRow) throws(VaultError) -> Void
  ) throws(VaultError) {
    try store.forEachSummed(of: table, body)
  }
}

/// What a call of the store returns, or its error as one of a vault.
private struct Turned {
  /// The path, of a file that was named as a backup: its errors say so.
  let backup: String?

  @inline(__always)
  func callAsFunction<R>(_ call: @autoclosure () throws(StorageError) -> R) throws(VaultError) -> R {
    do throws(StorageError) { return try call() } catch {
      throw backup.map { VaultError(error, backupAt: $0) } ?? VaultError(error)
    }
  }
}
