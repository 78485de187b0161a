/// When the next token or consent ends (head row, bytes 232–239): a boot time in one boot. It tells a commit, without
/// reading a row, that there is nothing to end.
package struct NextTokenEnd: Sendable, Equatable {
  /// The first three bytes of the boot id, then 40 bits of milliseconds since boot; 0 for none.
  package private(set) var rawValue: UInt64 = 0

  /// No token and no consent has a secret.
  package init() {}

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether a token or a consent may have ended. Where the boot id cannot be read, nothing is known.
  package func isDue(_ clock: any VaultClock) -> Bool {
    guard rawValue != 0, let boot = clock.bootID() else { return false }
    return Self.mark(of: boot) != rawValue & ~Self.times || clock.bootMilliseconds() >= rawValue & Self.times
  }

  /// Milliseconds until then; 0 if it is due, `nil` for none.
  package func millisecondsLeft(_ clock: any VaultClock) -> UInt64? {
    guard rawValue != 0 else { return nil }
    return isDue(clock) ? 0 : (rawValue & Self.times) &- min(rawValue & Self.times, clock.bootMilliseconds())
  }

  /// Takes a token into account. All that it knows are of one boot: those of another have ended.
  package mutating func note(_ life: TokenLife) {
    let (sum, isBeyond) = life.issuedBootTime.addingReportingOverflow(life.length)
    let end = Self.mark(of: life.boot) | min(isBeyond ? .max : sum, Self.times)
    rawValue = rawValue == 0 ? end : min(rawValue, end)
  }

  private static func mark(of boot: [UInt8]) -> UInt64 {
    boot.prefix(3).reduce(0) { $0 << 8 | UInt64($1) } << 40
  }
  private static let times: UInt64 = (1 << 40) - 1
}
