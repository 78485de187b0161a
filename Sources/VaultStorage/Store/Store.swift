/// The vault file as rows of bytes: every table of the format, transactions, and nothing that knows a key.
///
/// Reads may run outside a transaction; inside one they cost 3 µs less and see one state. Every change runs between
/// ``beginImmediate()`` and ``commit()``. What is read has the types and lengths of the format or throws
/// ``StorageError/damaged(_:)``; what it means is not known here.
// Every method is mutating, so whoever calls has the store alone; SQLite is opened for one thread at a time.
package struct Store: ~Copyable, @unchecked Sendable {
  /// The longest value, in bytes: a plaintext of 16 MiB under the larger seal, and some.
  package static let mostBytes = 17 << 20

  /// The file's path, absolute, symbolic links among its folders resolved.
  package let path: String
  /// True when it was opened so, or when medium, folder or file do not allow writing.
  package let isReadOnly: Bool
  /// The inode of the file: a copy has another one.
  package var fileIdentity: UInt64 { name?.inode ?? 0 }
  /// What each commit compares; nil for a file that is being made and has no name of its own yet.
  private let name: OpenedName?
  var connection: Connection
  let queue: CommitQueue
  private var transaction = Transaction.none
  /// The item that was looked up last by its id in this transaction: one operation asks for it several times.
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
    path: String, isReadOnly: Bool, name: OpenedName?, connection: consuming Connection,
    queue: consuming CommitQueue
  ) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.name = name
    self.connection = connection
    self.queue = queue
  }

  // MARK: - Transactions

  /// Begins a transaction that may write; waits up to 10 s for other processes.
  ///
  /// - Precondition: No transaction is open.
  package mutating func beginImmediate() throws(StorageError) {
    precondition(!isInTransaction, "Store.beginImmediate: a transaction is open")
    guard !isReadOnly else { throw .readOnly }
    guard connection.isOfThisProcess else { throw .usedAfterFork }
    queue.enter()
    do throws(StorageError) { try run(.beginImmediate) } catch {
      queue.leave()
      throw error
    }
    transaction = .write
  }

  /// Begins a transaction that reads: all its reads see the state of the first one.
  ///
  /// - Precondition: No transaction is open.
  package mutating func beginRead() throws(StorageError) {
    precondition(!isInTransaction, "Store.beginRead: a transaction is open")
    try run(.begin)
    transaction = .read
  }

  /// Makes the changes durable. When it throws, they are rolled back and not visible now.
  ///
  /// - Throws: ``StorageError/unconfirmed(code:errno:)`` when they may still appear after a crash;
  ///   ``StorageError/moved(_:)`` when they would be written to a file that is no longer the vault.
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
        throw error
      }
    }
    do throws(StorageError) { try run(.commit) } catch {
      // No other process ever sees the log of a file without a name.
      let failure = isWriting && name != nil ? error.ofCommit(connection.lastFailure) : error
      rollback()
      throw failure
    }
    end()
  }

  /// Compares the vault's name with the file that is open.
  func checkName() throws(StorageError) { try name?.check() }

  /// Ends the transaction without its changes. Does nothing when none is open.
  package mutating func rollback() {
    if connection.isOfThisProcess, connection.isInTransaction { try? run(.rollback) }
    end()
  }

  private mutating func end() {
    recentItem = nil
    // A child shares the parent's place in the queue, and must not give it up.
    if case .read = transaction {} else if connection.isOfThisProcess { queue.leave() }
    transaction = .none
  }

  package var isInTransaction: Bool {
    if case .none = transaction { false } else { true }
  }

  /// Runs `body` in a transaction that may write, and commits; rolls back when either throws.
  package mutating func write<R: ~Copyable, E: StorageFailure>(
    _ body: (inout Store) throws(E) -> R
  ) throws(E) -> R {
    do throws(StorageError) { try beginImmediate() } catch { throw E(error) }
    return try finish(body)
  }

  /// Runs `body` in a transaction that reads one state.
  package mutating func read<R: ~Copyable, E: StorageFailure>(
    _ body: (inout Store) throws(E) -> R
  ) throws(E) -> R {
    do throws(StorageError) { try beginRead() } catch { throw E(error) }
    return try finish(body)
  }

  private mutating func finish<R: ~Copyable, E: StorageFailure>(
    _ body: (inout Store) throws(E) -> R
  ) throws(E) -> R {
    let result: R
    do throws(E) { result = try body(&self) } catch {
      rollback()
      throw error
    }
    do throws(StorageError) { try commit() } catch { throw E(error) }
    return result
  }

  // MARK: - Statements

  /// Runs a statement that reads, or one that governs the transaction.
  mutating func run<R, E: StorageFailure>(
    _ query: Query, body: (borrowing Cursor) throws(E) -> R
  ) throws(E) -> R {
    do throws(E) { return try connection.use(query, lending: body) } catch {
      noteLoss(error as? StorageError)
      throw error
    }
  }

  mutating func run(_ query: Query) throws(StorageError) {
    try run(query) { statement throws(StorageError) in try statement.run() }
  }

  /// Runs a statement that changes rows.
  ///
  /// - Returns: How many it changed.
  /// - Precondition: A write transaction is open.
  @discardableResult
  mutating func change(
    _ query: Query, binding bind: (borrowing Cursor) throws(StorageError) -> Void
  ) throws(StorageError) -> Int {
    switch transaction {
    case .write: break
    case .lost(let error): throw error
    case .none, .read: preconditionFailure("Store: a change outside a write transaction")
    }
    try run(query) { statement throws(StorageError) in
      try bind(statement)
      try statement.run()
    }
    return Int(connection.changes)
  }

  /// A full disk or an I/O error makes SQLite roll back at once; what follows must not run outside a transaction.
  private mutating func noteLoss(_ error: StorageError?) {
    guard isInTransaction, connection.isOfThisProcess, !connection.isInTransaction else { return }
    if case .lost = transaction { return }
    recentItem = nil
    transaction = .lost(error ?? .io(code: 0, errno: 0))
  }
}
