package import VaultFormat
package import VaultStorage

/// The rows of a vault file, with the errors of a vault. Here, errors of the store become errors of a vault. Above this
/// type, SQLite is not visible.
///
/// Each method does the same as the method of ``Store`` with that name. A row is still bytes: ``SealedStore`` opens it.
package struct VaultRows: ~Copyable, Sendable {
  private var store: Store
  /// The path, of a file that was named as a backup: its errors say so.
  private let backup: String?

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
    self.backup = backup
  }

  private func failure(_ error: StorageError) -> VaultError {
    backup.map { VaultError(error, backupAt: $0) } ?? VaultError(error)
  }

  package var path: String { store.path }
  package var isReadOnly: Bool { store.isReadOnly }
  package var lacksRoom: Bool { store.lacksRoom }
  package var fileIdentity: UInt64 { store.fileIdentity }
  package var dataVersion: UInt32 { store.dataVersion }
  package mutating func rollback() { store.rollback() }
  package mutating func releasePages() { store.releasePages() }

  package mutating func beginImmediate() throws(VaultError) {
    do throws(StorageError) { return try store.beginImmediate() } catch { throw failure(error) }
  }

  package mutating func beginRead() throws(VaultError) {
    do throws(StorageError) { return try store.beginRead() } catch { throw failure(error) }
  }

  package mutating func commit() throws(VaultError) {
    do throws(StorageError) { return try store.commit() } catch { throw failure(error) }
  }

  package mutating func header() throws(VaultError) -> HeaderRow {
    do throws(StorageError) { return try store.header() } catch { throw failure(error) }
  }

  package mutating func setHeader(_ header: HeaderRow) throws(VaultError) {
    do throws(StorageError) { return try store.setHeader(header) } catch { throw failure(error) }
  }

  package mutating func slots() throws(VaultError) -> [SlotRow] {
    do throws(StorageError) { return try store.slots() } catch { throw failure(error) }
  }

  package mutating func replaceSlots(_ slots: [SlotRow]) throws(VaultError) {
    do throws(StorageError) { return try store.replaceSlots(slots) } catch { throw failure(error) }
  }

  package mutating func head() throws(VaultError) -> [UInt8] {
    do throws(StorageError) { return try store.head() } catch { throw failure(error) }
  }

  package mutating func setHead(_ body: [UInt8]) throws(VaultError) {
    do throws(StorageError) { return try store.setHead(body) } catch { throw failure(error) }
  }

  package mutating func item(row number: Int64) throws(VaultError) -> ItemRow? {
    do throws(StorageError) { return try store.item(row: number) } catch { throw failure(error) }
  }

  package mutating func item(id: Bytes16) throws(VaultError) -> ItemRow? {
    do throws(StorageError) { return try store.item(id: id) } catch { throw failure(error) }
  }

  package mutating func item(name: Bytes16) throws(VaultError) -> ItemRow? {
    do throws(StorageError) { return try store.item(name: name) } catch { throw failure(error) }
  }

  package mutating func withItem(name: Bytes16, _ body: (ItemFields, _ meta: RawSpan) -> Void)
    throws(VaultError)
  {
    do throws(StorageError) { return try store.withItem(name: name, body) } catch { throw failure(error) }
  }

  package mutating func item(primaryKey: Bytes16) throws(VaultError) -> ItemRow? {
    do throws(StorageError) { return try store.item(primaryKey: primaryKey) } catch {
      throw failure(error)
    }
  }

  package mutating func insertItem(_ item: ItemRow) throws(VaultError) {
    do throws(StorageError) { return try store.insertItem(item) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func updateItem(_ item: ItemRow) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.updateItem(item) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func deleteItem(row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.deleteItem(row: number) } catch { throw failure(error) }
  }

  package mutating func scanItems(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemFields, _ meta: RawSpan) -> Bool
  ) throws(VaultError) {
    do throws(StorageError) { return try store.scanItems(after: number, limit: limit, body) } catch {
      throw failure(error)
    }
  }

  package mutating func expired(before time: Int64) throws(VaultError) -> [Int64] {
    do throws(StorageError) { return try store.expired(before: time) } catch { throw failure(error) }
  }

  package mutating func material(row number: Int64) throws(VaultError) -> MaterialRow? {
    do throws(StorageError) { return try store.material(row: number) } catch { throw failure(error) }
  }

  package mutating func setMaterial(_ material: MaterialRow, row number: Int64) throws(VaultError) {
    do throws(StorageError) { return try store.setMaterial(material, row: number) } catch {
      throw failure(error)
    }
  }

  @discardableResult
  package mutating func deleteMaterial(row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.deleteMaterial(row: number) } catch { throw failure(error) }
  }

  package mutating func state(row number: Int64) throws(VaultError) -> StateRow? {
    do throws(StorageError) { return try store.state(row: number) } catch { throw failure(error) }
  }

  package mutating func scanStates(
    from first: Int64, _ body: (_ row: Int64, _ revision: UInt64, _ state: RawSpan) -> Bool
  ) throws(VaultError) {
    do throws(StorageError) { return try store.scanStates(from: first, body) } catch {
      throw failure(error)
    }
  }

  package mutating func setState(_ state: StateRow, row number: Int64) throws(VaultError) {
    do throws(StorageError) { return try store.setState(state, row: number) } catch {
      throw failure(error)
    }
  }

  @discardableResult
  package mutating func deleteState(row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.deleteState(row: number) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func insertBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.insertBlind(value: value, row: number) } catch {
      throw failure(error)
    }
  }

  @discardableResult
  package mutating func deleteBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.deleteBlind(value: value, row: number) } catch {
      throw failure(error)
    }
  }

  package mutating func hasBlind(value: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.hasBlind(value: value, row: number) } catch {
      throw failure(error)
    }
  }

  package mutating func rows(blind value: [UInt8]) throws(VaultError) -> [Int64] {
    do throws(StorageError) { return try store.rows(blind: value) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func moveItem(_ item: ItemRow) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.moveItem(item) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func setKeys(_ keys: [UInt8], row number: Int64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.setKeys(keys, row: number) } catch { throw failure(error) }
  }

  package mutating func letLogGrow(_ may: Bool) throws(VaultError) {
    do throws(StorageError) { return try store.letLogGrow(may) } catch { throw failure(error) }
  }

  package mutating func appendAudit(_ entry: AuditRow) throws(VaultError) {
    do throws(StorageError) { return try store.appendAudit(entry) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func updateAudit(_ entry: AuditRow) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.updateAudit(entry) } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func deleteAudit(sequence: UInt64) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.deleteAudit(sequence: sequence) } catch {
      throw failure(error)
    }
  }

  package mutating func auditEntries(from first: UInt64 = 0, limit: Int? = nil) throws(VaultError)
    -> [AuditRow]
  {
    do throws(StorageError) { return try store.auditEntries(from: first, limit: limit) } catch {
      throw failure(error)
    }
  }

  package mutating func insertSegment(_ segment: SegmentRow) throws(VaultError) {
    do throws(StorageError) { return try store.insertSegment(segment) } catch { throw failure(error) }
  }

  package mutating func segments() throws(VaultError) -> [SegmentRow] {
    do throws(StorageError) { return try store.segments() } catch { throw failure(error) }
  }

  @discardableResult
  package mutating func deleteSegments(through number: UInt64) throws(VaultError) -> Int {
    do throws(StorageError) { return try store.deleteSegments(through: number) } catch {
      throw failure(error)
    }
  }

  package mutating func checkpoint(truncate: Bool, isPatient: Bool = true) throws(VaultError) -> Bool {
    do throws(StorageError) { return try store.checkpoint(truncate: truncate, isPatient: isPatient) } catch {
      throw failure(error)
    }
  }

  package mutating func writeOut() throws(VaultError) {
    do throws(StorageError) { return try store.writeOut() } catch { throw failure(error) }
  }

  package mutating func integrityCheck(progress: (() -> Bool)? = nil) throws(VaultError) -> [String] {
    do throws(StorageError) { return try store.integrityCheck(progress: progress) } catch {
      throw failure(error)
    }
  }

  package mutating func deleteImpossible(
    from limit: UInt64, afterEntry entry: UInt64, afterSegment segment: UInt64
  ) throws(VaultError) -> (all: Int64, items: Int64) {
    do throws(StorageError) {
      return try store.deleteImpossible(from: limit, afterEntry: entry, afterSegment: segment)
    } catch { throw failure(error) }
  }

  package mutating func vacuum() throws(VaultError) {
    do throws(StorageError) { return try store.vacuum() } catch { throw failure(error) }
  }

  // MARK: Walks

  package mutating func forEachItem(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemRow) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try store.forEachItem(after: number, limit: limit, body)
  }

  package mutating func forEachBlind(
    _ body: (_ value: [UInt8], _ row: Int64) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try store.forEachBlind(body)
  }

  package mutating func forEachSummed(_ body: (SummedRow) throws(VaultError) -> Void) throws(VaultError) {
    try store.forEachSummed(body)
  }
}
