import VaultFormat
import VaultKeys

/// When, and for which process, a person was verified. What ends a verification is the same whether it serves one use, further
/// items of a command, or a program for a while: a lock, new keys, a reboot, and time.
struct VerificationMoment: Sendable {
  /// The process that was served; `nil` if this one asked for itself. A person who was shown one process has not agreed to
  /// another.
  let caller: Caller?
  let session: UInt64
  /// How many times the vault had been locked before.
  let locks: UInt64
  let boot: [UInt8]
  /// In milliseconds of the boot clock.
  let madeAt: UInt64

  init(for caller: Caller?, session: UInt64, locks: UInt64, clock: any VaultClock) {
    (self.caller, self.session, self.locks) = (caller, session, locks)
    (boot, madeAt) = (clock.bootID() ?? [], clock.bootMilliseconds())
  }

  /// Whether it is less old than `life`, in this boot.
  func isWithin(_ life: UInt64, clock: any VaultClock) -> Bool {
    let now = clock.bootMilliseconds()
    return boot == clock.bootID() ?? [] && now >= madeAt && now - madeAt < life
  }
}
