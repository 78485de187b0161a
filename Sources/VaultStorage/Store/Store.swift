/// The vault file as rows of bytes: every table of the format, and transactions. It knows no key.
///
/// This is the front page of VaultStorage, the only module that knows SQLite. Reads may run outside a transaction;
/// inside one, each costs 3 µs less and all see one state. Every change runs between ``beginImmediate()`` and
/// ``commit()``. Values that are read have the types and lengths of the format, or the read throws
/// ``StorageError/damaged(_:)``. What they mean is decided above this module. Read in this order:
///
/// - `Store.swift`: transactions, and how statements run; `Store+Reading`: how their rows are read. `Store+Open` and
///   `Store+Create` begin and end its life; the other extensions are one table each. `Rows/`: the rows.
/// - `Path/`: ``VaultPath`` checks where a vault may be; ``NewVaultPlace`` makes one.
/// - `SQLite/`: ``Connection``, ``Query`` (all SQL) and ``Cursor``; `ResultCode.swift` turns results into errors.
/// - `Schema/`: the tables of `docs/format/vault-file.md`.
/// - ``StorageError`` is the error of the module.
// Every method is mutating, so a caller has exclusive access. SQLite is opened for one thread at a time.
package struct Store: ~Copyable, @unchecked Sendable {
  /// The longest value, in bytes: a plaintext of 16 MiB under the larger seal, with a margin.
  package static let mostBytes = 17 << 20

  /// The path of the file, absolute, with symbolic links among its directories resolved.
  package var path: String { opening.path }
  /// True when it was opened read-only, or when the medium, the directory or the file does not allow writing; and while
  /// ``lacksRoom`` is.
  package var isReadOnly: Bool { !mode.isWritable }
  /// Whether the last transaction found no room for the files that a change needs beside the vault: the disk or the quota is full. Such a
  /// store reads, and each transaction looks again.
  package var lacksRoom: Bool { hold != nil }
  /// The inode of the file. A copy has another one.
  package var fileIdentity: UInt64 { name?.inode ?? 0 }
  let opening: Opening
  private var name: OpenedName? { opening.name }
  var mode: Connection.Mode
  var connection: Connection
  /// How often the file was opened again.
  var openings: UInt32 = 0
  /// What a store without room holds during each transaction.
  private(set) var hold: DatabaseHold?
  private(set) var queue: CommitQueue
  private var transaction = Transaction.none
  /// The item that this transaction last looked up by its id, because one operation asks for it several times.
  var recentItem: ItemRow?

  package enum Access: Sendable {
    case readOnly, readWrite
  }

  private enum Transaction {
    case none, read, write
    /// SQLite has rolled back by itself after this error.
    case lost(StorageError)
  }

  init(
    opening: Opening, mode: Connection.Mode, connection: consuming Connection, hold: DatabaseHold? = nil,
    queue: consuming CommitQueue
  ) {
    self.opening = opening
    self.mode = mode
    self.connection = connection
    self.hold = hold
    self.queue = queue
  }

  /// The file was opened as usual.
  mutating func foundRoom(_ mode: Connection.Mode, queue: consuming CommitQueue) {
    self.mode = mode
    hold = nil
    if mode == .readWrite { self.queue = queue }
  }

  // MARK: - Transactions

  /// Begins a transaction that may write. Waits up to 10 s for other processes.
  ///
  /// - Throws: ``StorageError/moved(_:)`` and ``StorageError/sideFile(_:)`` as ``commit()``.
  /// - Precondition: No transaction is open.
  package mutating func beginImmediate() throws(StorageError) {
    precondition(!isInTransaction, "Store.beginImmediate: a transaction is open")
    try openAgain()
    guard !lacksRoom else {
      hold?.release()
      throw whyNoRoom
    }
    guard !isReadOnly else { throw .readOnly }
    guard connection.isOfThisProcess else { throw .usedAfterFork }
    queue.enter()
    do throws(StorageError) {
      try checkName()
      try run(.beginImmediate)
    } catch {
      queue.leave()
      throw error
    }
    transaction = .write
  }

  /// Begins a transaction that reads. All its reads see the state of the first one.
  ///
  /// - Precondition: No transaction is open.
  package mutating func beginRead() throws(StorageError) {
    precondition(!isInTransaction, "Store.beginRead: a transaction is open")
    try openAgain()
    do throws(StorageError) { try connection.checkSideFiles() } catch {
      // A vault with another name is still whole: its own files are open.
      if name?.isRight ?? false { throw error }
    }
    do throws(StorageError) { try run(.begin) } catch {
      hold?.release()
      throw error
    }
    transaction = .read
  }

  /// Makes the changes durable. If it throws, they are rolled back and not visible now.
  ///
  /// - Throws: ``StorageError/unconfirmed(code:errno:)`` when they may still appear after a crash;
  ///   ``StorageError/moved(_:)`` when they would be written to a file that is no longer the vault,
  ///   ``StorageError/sideFile(_:)`` when other processes would not find them.
  package mutating func commit() throws(StorageError) {
    var isWriting = false
    switch transaction {
    case .none: preconditionFailure("Store.commit: no transaction is open")
    case .lost(let error):
      end()
      throw error
    case .read: break
    case .write:
      isWriting = true
      do throws(StorageError) { try checkName() } catch {
        rollback()
        connection.saveLog()
        throw error
      }
    }
    do throws(StorageError) { try run(.commit) } catch {
      // No other process sees the log of a file without a name.
      let failure = isWriting && name != nil ? error.ofCommit(connection.lastFailure) : error
      rollback()
      throw failure
    }
    end()
  }

  /// Compares the names of the vault and of the files beside it with the files that are open.
  func checkName() throws(StorageError) {
    try name?.check()
    try connection.checkSideFiles()
  }

  /// Ends the transaction without its changes. Does nothing when none is open.
  package mutating func rollback() {
    if connection.isOfThisProcess, connection.isInTransaction { try? run(.rollback) }
    end()
  }

  private mutating func end() {
    recentItem = nil
    // A child shares the place of its parent in the queue, and must not release it.
    if case .read = transaction {} else if connection.isOfThisProcess { queue.leave() }
    transaction = .none
    if connection.isOfThisProcess { hold?.release() }
  }

  /// The version of the state that the transaction reads: another number than before after each commit, of any process.
  ///
  /// - Precondition: The transaction has read something.
  package var dataVersion: UInt32 { connection.dataVersion &+ openings << 16 }

  package var isInTransaction: Bool {
    if case .none = transaction { false } else { true }
  }

  /// Runs `body` in a transaction that may write, and commits. Rolls back when either throws.
  package mutating func write<R: ~Copyable, E: StorageFailure>(
    _ body: (inout Store) throws(E) -> R
  ) throws(E) -> R {
    try E.from(beginImmediate())
    let result: R
    do throws(E) { result = try body(&self) } catch {
      rollback()
      throw error
    }
    try E.from(commit())
    return result
  }

  // MARK: - Statements

  /// Runs a statement with `values`, which are bound from position 1, and lends it to `body`.
  mutating func run<each Value: Bindable, R, E: StorageFailure>(
    _ query: Query, _ values: repeat each Value, body: (borrowing Cursor) throws(E) -> R
  ) throws(E) -> R {
    // A read outside a transaction.
    let isAlone = lacksRoom && !isInTransaction && hold?.isTaken == false
    if isAlone { try E.from(openAgain()) }
    defer { if isAlone { hold?.release() } }
    do throws(E) { return try connection.use(query, repeat each values, body: body) } catch {
      noteLoss(error as? StorageError)
      throw error
    }
  }

  /// Runs a statement without a result.
  private mutating func run<each Value: Bindable>(
    _ query: Query, _ values: repeat each Value
  ) throws(StorageError) {
    try run(query, repeat each values) { statement throws(StorageError) in try statement.run() }
  }

  /// Runs a statement that changes rows.
  ///
  /// - Returns: How many it changed.
  /// - Precondition: A write transaction is open.
  @discardableResult
  mutating func change<each Value: Bindable>(
    _ query: Query, _ values: repeat each Value
  ) throws(StorageError) -> Int {
    switch transaction {
    case .write: break
    case .lost(let error): throw error
    case .none, .read: preconditionFailure("Store: a change outside a write transaction")
    }
    try run(query, repeat each values)
    return Int(connection.changes)
  }

  /// A full disk or an I/O error makes SQLite roll back at once. Later statements must not run outside a
  /// transaction.
  private mutating func noteLoss(_ error: StorageError?) {
    guard isInTransaction, connection.isOfThisProcess, !connection.isInTransaction else { return }
    if case .lost = transaction { return }
    recentItem = nil
    transaction = .lost(error ?? .io(code: 0, errno: 0))
  }
}
