import CSQLite

/// Waiting for a lock that another process holds. SQLite's own waiting grows to pauses of 100 ms and starves some.
struct BusyWait {
  /// How long a statement waits before it gives up with ``StorageError/busy``, in nanoseconds.
  var patience: Int64
  /// Ends the waiting once the name leads to another file: a restore keeps the old one locked while it takes its place.
  private let name: OpenedName?
  private var start: Int64 = 0

  init(patience: Int64, name: OpenedName?) {
    self.patience = patience
    self.name = name
  }

  /// Makes `database` wait in this way. `wait` must outlive the connection.
  @unsafe
  static func install(on database: OpaquePointer, _ wait: UnsafeMutablePointer<BusyWait>) {
    unsafe sqlite3_busy_handler(
      database,
      { context, attempts in
        unsafe context!.assumingMemoryBound(to: BusyWait.self).pointee.pause(attempts) ? 1 : 0
      }, wait)
  }

  private mutating func pause(_ attempts: Int32) -> Bool {
    if attempts == 0 { start = Pause.now() }
    if let name, !name.isRight { return false }
    return Pause.take(since: start, attempts: attempts, patience: patience)
  }
}
