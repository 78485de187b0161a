package import VaultStorage

/// The clock since boot, read once.
package struct BootTime: Sendable {
  package let milliseconds: UInt64
  /// The boot id; `nil` where it cannot be read.
  package let boot: Bytes16?

  package init(_ clock: any VaultClock) {
    (milliseconds, boot) = (clock.bootMilliseconds(), clock.bootID().map { Bytes16($0) })
  }
}

/// A time of the clock since boot at which something ends. It has passed in every other boot.
package struct Deadline: Sendable, Equatable {
  /// The boot time in milliseconds.
  package let milliseconds: UInt64
  /// The boot id.
  package let boot: Bytes16

  package init(milliseconds: UInt64, boot: Bytes16) { (self.milliseconds, self.boot) = (milliseconds, boot) }

  /// The 24 bytes of one at an offset of a layout: the time, then the boot.
  package init(_ bytes: RawSpan, at offset: Int) {
    self.init(
      milliseconds: bytes.word(at: offset),
      boot: Bytes16(high: bytes.word(at: offset + 8), low: bytes.word(at: offset + 16)))
  }

  /// Those bytes.
  package var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8)
    bytes.setBigEndian(milliseconds, at: 0)
    return bytes + boot.bytes
  }

  /// The time so many seconds from now.
  ///
  /// - Throws: ``VaultError/Code/io`` where the boot cannot be told: the deadline would never be kept.
  package init(seconds: UInt64, clock: any VaultClock) throws(VaultError) {
    let now = BootTime(clock)
    guard let boot = now.boot else { throw .bootUnreadable }
    let (duration, isBeyond) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, isFurther) = now.milliseconds.addingReportingOverflow(duration)
    self.init(milliseconds: isBeyond || isFurther ? .max : sum, boot: boot)
  }

  /// Whole seconds until then; 0 if it has passed, in another boot, and where the boot cannot be told.
  package func secondsLeft(_ now: BootTime) -> UInt64 {
    guard now.boot == boot, now.milliseconds < milliseconds else { return 0 }
    return (milliseconds - now.milliseconds - 1) / 1000 + 1
  }
}

extension VaultError {
  package static var bootUnreadable: VaultError {
    VaultError(
      .io, "the boot id cannot be read, so no deadline can be kept",
      hint: "look at /proc/sys/kernel/random/boot_id")
  }
}
