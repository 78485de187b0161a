import CSQLite
import Glibc

/// Waiting for a lock that another process holds: short random pauses, so that of fifty waiting processes each
/// comes in soon. SQLite's own waiting grows to pauses of 100 ms and starves some.
enum BusyWait {
  /// How long a statement waits before it gives up with ``StorageError/busy``, in nanoseconds.
  static let patience: Int64 = 10_000_000_000

  /// Makes `database` wait in this way. `start` must outlive the connection.
  @unsafe
  static func install(on database: OpaquePointer, start: UnsafeMutablePointer<Int64>) {
    unsafe sqlite3_busy_handler(
      database,
      { context, attempts in
        let start = unsafe context!.assumingMemoryBound(to: Int64.self)
        if attempts == 0 { unsafe start.pointee = BusyWait.now() }
        return BusyWait.pause(since: unsafe start.pointee, attempts: attempts) ? 1 : 0
      }, start)
  }

  /// Sleeps a little; false when patience is at its end.
  private static func pause(since start: Int64, attempts: Int32) -> Bool {
    let instant = now()
    guard instant - start < patience else { return false }
    // Most locks are gone within the first pauses: a commit takes about as long as one write to the disk.
    let most: UInt64 = attempts < 4 ? 200 : 2_000
    var bits = UInt64(truncatingIfNeeded: instant) ^ UInt64(truncatingIfNeeded: getpid()) << 32
    bits = (bits ^ bits >> 33) &* 0xFF51_AFD7_ED55_8CCD
    bits ^= bits >> 33
    usleep(UInt32(50 + bits % most))
    return true
  }

  private static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
