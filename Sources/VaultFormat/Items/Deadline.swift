package import VaultStorage

/// A time of the clock since boot at which something ends. It has passed in every other boot.
package struct Deadline: Sendable, Equatable {
  /// The boot time in milliseconds.
  package let milliseconds: UInt64
  /// The boot id.
  package let boot: Bytes16

  package init(milliseconds: UInt64, boot: Bytes16) { (self.milliseconds, self.boot) = (milliseconds, boot) }

  /// The time so many seconds from now.
  ///
  /// - Throws: ``VaultError/Code/io`` where the boot cannot be told: the deadline would never be kept.
  package init(seconds: UInt64, clock: any VaultClock) throws(VaultError) {
    guard let boot = clock.bootID() else { throw .bootUnreadable }
    let (duration, isBeyond) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, isFurther) = clock.bootMilliseconds().addingReportingOverflow(duration)
    self.init(milliseconds: isBeyond || isFurther ? .max : sum, boot: Bytes16(boot))
  }

  /// Whether it is a time of this boot.
  package func isOf(boot id: [UInt8]) -> Bool { boot == Bytes16(id) }

  /// Whole seconds until then; 0 if it has passed, in another boot, and where the boot cannot be told.
  package func secondsLeft(_ clock: any VaultClock) -> UInt64 {
    guard let id = clock.bootID(), isOf(boot: id) else { return 0 }
    let now = clock.bootMilliseconds()
    return now < milliseconds ? (milliseconds - now + 999) / 1000 : 0
  }
}

extension VaultError {
  package static var bootUnreadable: VaultError {
    VaultError(
      .io, "the boot id cannot be read, so no deadline can be kept",
      hint: "look at /proc/sys/kernel/random/boot_id")
  }
}
