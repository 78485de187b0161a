import CSQLite
import Glibc
package import Synchronization

extension Store {
  /// The version of the SQLite library in use, `3.40.1`.
  package static var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }

  /// Moves the log into the file. With `truncate`, the log is emptied, so that deleted rows are in neither.
  ///
  /// - Parameter isPatient: Waits up to a fifth of a second for readers and writers in other processes, instead of
  ///   two milliseconds.
  /// - Returns: False when they prevent it for longer.
  /// - Precondition: No transaction is open.
  package mutating func checkpoint(truncate: Bool, isPatient: Bool = true) throws(StorageError) -> Bool {
    precondition(!isInTransaction, "Store.checkpoint: a transaction is open")
    guard !isReadOnly else { throw lacksRoom ? whyNoRoom : .readOnly }
    guard connection.isOfThisProcess else { throw .usedAfterFork }
    queue.enter()
    defer { queue.leave() }
    try checkName()
    return try connection.checkpoint(truncate: truncate, patience: isPatient ? 200_000_000 : 2_000_000)
  }

  /// Writes the changes of the transaction to the log without a commit, so that a full disk is found early. Changes
  /// without a commit do not count, and the next transaction overwrites them.
  ///
  /// - Precondition: A write transaction is open.
  package mutating func writeOut() throws(StorageError) {
    precondition(isInTransaction, "Store.writeOut: no transaction is open")
    try connection.writeOut()
  }

  /// The faults of the file's pages and indexes; empty when there are none. Reads the whole file.
  ///
  /// `progress` is called about every millisecond of work. When it returns false, the check ends with what it has
  /// found.
  package mutating func integrityCheck(
    progress: (() -> Bool)? = nil
  ) throws(StorageError) -> [String] {
    try connection.integrityCheck(progress: progress)
  }

  /// Rewrites the whole file, without free pages. SQLite first makes the new file in memory, or in a temporary file where
  /// ``rewritesThroughFiles`` says so.
  ///
  /// - Precondition: No transaction is open.
  package mutating func vacuum() throws(StorageError) {
    precondition(!isInTransaction, "Store.vacuum: a transaction is open")
    guard !isReadOnly else { throw lacksRoom ? whyNoRoom : .readOnly }
    try checkName()
    guard Self.rewritesThroughFiles.load(ordering: .relaxed) else { return try connection.execute("VACUUM") }
    let folder = VaultPath.parent(of: path).split(separator: "'", omittingEmptySubsequences: false)
    // It fails only where the directory cannot be written to; SQLite's error does not say so.
    do throws(StorageError) {
      try connection.execute("PRAGMA temp_store_directory='\(folder.joined(separator: "''"))'")
    } catch { throw .cannotOpen(errno: EACCES) }
    try connection.execute("PRAGMA temp_store=FILE")
    defer { try? connection.execute("PRAGMA temp_store=MEMORY; PRAGMA temp_store_directory=''") }
    try connection.withSmallCache { () throws(StorageError) in try connection.execute("VACUUM") }
  }

  /// Whether a file is rewritten through a temporary file. That file has no name, and is in the directory of the vault, so that no
  /// copy of the vault gets to another disk.
  package static let rewritesThroughFiles = Atomic(false)

  /// Deletes rows with numbers below the first or from `limit` on, index values that are not 16 bytes, and entries and segments
  /// of the log after these. Reads none of them.
  ///
  /// - Returns: How many, and how many of them are items.
  package mutating func deleteImpossible(
    from limit: UInt64, afterEntry entry: UInt64, afterSegment segment: UInt64
  ) throws(StorageError) -> (all: Int64, items: Int64) {
    var counts: [Int64] = []
    let former = try hasFormer() ? ["former WHERE row < 1 OR row >= \(limit) OR version < 1"] : []
    for deletion in [
      "item WHERE row < 1 OR row >= \(limit)",
      "material WHERE row < 1 OR row >= \(limit)",
      "state WHERE row < 0 OR row >= \(limit)",
      "blind WHERE row < 1 OR row >= \(limit) OR length(value) <> 16",
      "audit WHERE sequence < 1 OR sequence > \(entry)",
      "segment WHERE number < 1 OR number > \(segment)",
    ] + former {
      try connection.execute("DELETE FROM " + deletion)
      counts.append(connection.changes)
    }
    return (counts.reduce(0, +), counts[0])
  }
}
