import Glibc

/// Short pauses of random length, so that each of fifty waiting processes gets its turn soon.
enum Pause {
  /// Sleeps a little. Returns false at once when `patience` nanoseconds have passed since `start`.
  static func take(since start: Int64, attempts: Int32, patience: Int64) -> Bool {
    let instant = now()
    guard instant &- start < patience else { return false }
    // A commit takes about as long as one write to the disk, so with few waiting processes the lock is free soon.
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
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
