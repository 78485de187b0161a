import CSQLite
import Glibc

/// How much work one statement may do: a multiple of what reading the whole file takes.
///
/// In a damaged file, one page can be the child of many pages, many times over. A tree of a few such pages has more
/// rows than any disk could hold, and SQLite walks through them, even within one step. When a statement has done
/// more work than any undamaged file can cause, it ends with ``StorageError/damaged(_:)``.
struct WorkBound {
  private let path: String
  private var intervals = 0
  private var most: Int?

  init(path: String) { self.path = path }

  /// Starts the count for another statement.
  mutating func begin() { intervals = 0 }

  /// Installs the bound in `database`. `bound` must outlive the connection.
  @unsafe
  static func install(on database: OpaquePointer, _ bound: UnsafeMutablePointer<WorkBound>) {
    unsafe sqlite3_progress_handler(
      database, Int32(interval),
      { context in unsafe context!.assumingMemoryBound(to: WorkBound.self).pointee.isOver() ? 1 : 0 }, bound)
  }

  /// Instructions of SQLite's virtual machine between two checks: about a millisecond.
  private static let interval = 100_000
  /// The file is not looked at before a million instructions, more than most statements ever take.
  private static let free = 10

  private mutating func isOver() -> Bool {
    intervals += 1
    guard intervals > Self.free else { return false }
    if most == nil || intervals > most! { most = mostIntervals() }
    return intervals > most!
  }

  /// A row has twenty bytes or more, and no statement takes more than 200 instructions per row. Rows that are not
  /// written yet are in memory, and within the first megabyte.
  private func mostIntervals() -> Int {
    var bytes = 1 << 20
    for suffix in ["", "-wal"] {
      var about = stat()
      if unsafe stat(path + suffix, &about) == 0 { bytes += Int(about.st_size) }
    }
    return Self.free + bytes / 20 * 200 / Self.interval
  }
}
