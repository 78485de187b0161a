package import VaultFormat
import CLinux
import Glibc
import Synchronization

/// The clocks of this machine.
package struct SystemClock: VaultClock {
  package init() {}

  package func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Asks the kernel itself: a library that fakes clocks for one process shortens no delay.
  package func bootMilliseconds() -> UInt64 { UInt64(clamping: clinux_kernel_boot_milliseconds()) }

  package func kernelBootMilliseconds() -> UInt64? {
    let time = clinux_kernel_boot_milliseconds()
    return time >= 0 && Self.hasBootClockOfMachine() ? UInt64(time) : nil
  }

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
    guard let text = try? contents(of: "/proc/sys/kernel/random/boot_id"), text.utf8.count >= 36 else {
      return nil
    }
    return VaultID(hexadecimal: text.prefix(36).filter { $0 != "-" })?.bytes
  }

  /// Whether the boot clock of this process is that of the machine: in a time namespace it has an offset. Read once where
  /// the read succeeds.
  private static func hasBootClockOfMachine() -> Bool {
    isOnMachineTime.withLock { known in
      if known == nil { known = readOffsets() }
      return known ?? false
    }
  }

  private static let isOnMachineTime = Mutex<Bool?>(nil)

  private static func readOffsets() -> Bool? {
    do {
      let words = try contents(of: "/proc/self/timens_offsets").split { $0 == " " || $0 == "\n" }
      return words.contains("boottime") && words.allSatisfy { $0 == "0" || $0.first?.isLetter == true }
    } catch {
      // A kernel without time namespaces.
      return error.code == ENOENT ? true : nil
    }
  }

  private struct Unreadable: Error {
    let code: Int32
  }

  private static func contents(of path: String) throws(Unreadable) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Unreadable(code: errno) }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 256)
    let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    guard count > 0 else { throw Unreadable(code: errno) }
    return String(decoding: text[..<count], as: UTF8.self)
  }
}
