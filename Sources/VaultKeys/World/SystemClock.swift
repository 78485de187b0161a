package import VaultFormat
import CLinux
import Glibc
import Synchronization

/// The clocks of this machine.
package struct SystemClock: VaultClock {
  package init() {}

  package func now() -> Instant {
    Instant(milliseconds: Int64(milliseconds(of: CLOCK_REALTIME)))
  }

  package func bootMilliseconds() -> UInt64 { UInt64(clamping: milliseconds(of: CLOCK_BOOTTIME)) }

  package func isSynchronized() -> Bool { clinux_is_clock_synchronized() }

  package func bootID() -> [UInt8]? {
    Self.thisBoot.withLock { known in
      if known == nil { known = Self.readBootID() }
      return known
    }
  }

  /// Read once, because no process outlives its boot. If the read fails, for lack of a descriptor, the next call reads
  /// again.
  private static let thisBoot = Mutex<[UInt8]?>(nil)

  private static func readBootID() -> [UInt8]? {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    guard count >= 36 else { return nil }
    let digits = text[..<36].filter { $0 != UInt8(ascii: "-") }
    return VaultID(hexadecimal: String(decoding: digits, as: UTF8.self))?.bytes
  }

  private func milliseconds(of clock: clockid_t) -> Int {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }
}
