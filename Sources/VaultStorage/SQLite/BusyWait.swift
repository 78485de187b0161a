import CSQLite
import Glibc

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

/// Short pauses of random length, so that of fifty waiting processes each comes in soon.
enum Pause {
  /// Sleeps a little; false, at once, when `patience` nanoseconds have passed since `start`.
  static func take(since start: Int64, attempts: Int32, patience: Int64) -> Bool {
    let instant = now()
    guard instant - start < patience else { return false }
    // A commit takes about as long as one write to the disk, so with few waiting the lock is free soon.
    let most: UInt64 = attempts < 3 ? 150 : attempts < 8 ? 500 : 2_000
    var bits = UInt64(truncatingIfNeeded: instant) ^ UInt64(truncatingIfNeeded: getpid()) << 32
    bits = (bits ^ bits >> 33) &* 0xFF51_AFD7_ED55_8CCD
    bits ^= bits >> 33
    usleep(UInt32(20 + bits % most))
    return true
  }

  static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
