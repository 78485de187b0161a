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

  /// Read once: no process outlives its boot. What could not be read, for want of a descriptor, is read the next time.
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

/// Who is asking, as the audit log records it.
package struct Caller: Sendable {
  package let user: UInt32
  package let process: UInt32
  package let executable: String
  /// As the log holds it: its first bytes.
  let executableBytes: [UInt8]

  /// The most that the log holds of a text.
  static let textByteCount = 255

  package init(user: UInt32, process: UInt32, executable: String) {
    self.user = user
    self.process = process
    self.executable = executable
    executableBytes = Array(executable.utf8.prefix(Self.textByteCount))
  }

  /// This process.
  package static var current: Caller {
    var path = [UInt8](repeating: 0, count: 255)
    let length = unsafe path.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    let name = length > 0 ? String(decoding: path[..<length], as: UTF8.self) : "unknown"
    return Caller(user: getuid(), process: UInt32(getpid()), executable: name)
  }
}
