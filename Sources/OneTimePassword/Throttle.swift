/// The growing delay after wrong codes (RFC 4226 §7.3): n failures in a row cost n units, up to a maximum.
///
/// Time is in seconds of a clock that the caller passes in, and that no user can set (`CLOCK_BOOTTIME`). That clock
/// starts again at a reboot. The caller, who knows the boot id, then calls ``restartDelay(at:)``.
public struct Throttle: Sendable, Hashable {
  /// Wrong codes since the last right one.
  public private(set) var failures: UInt32
  /// When the last wrong code came; `nil` after a right one.
  public private(set) var lastFailure: Int64?
  /// The delay of the first failure, and what each further one adds, in seconds.
  public let unitSeconds: Int64
  /// The longest delay in seconds.
  public let maximumSeconds: Int64

  /// A throttle as it was stored, or a new one. Negative times count as zero.
  public init(
    failures: UInt32 = 0, lastFailure: Int64? = nil, unitSeconds: Int64 = 5, maximumSeconds: Int64 = 3600
  ) {
    self.failures = failures
    self.lastFailure = lastFailure
    self.unitSeconds = max(0, unitSeconds)
    self.maximumSeconds = max(0, maximumSeconds)
  }

  /// Seconds until the next attempt is judged; 0 when it is judged now.
  ///
  /// A time before the last failure gets the full delay, so that setting a clock back shortens nothing.
  public func remainingSeconds(at time: Int64) -> Int64 {
    guard let lastFailure else { return 0 }
    guard time >= lastFailure else { return delaySeconds }
    let (elapsed, overflow) = time.subtractingReportingOverflow(lastFailure)
    return overflow ? 0 : max(0, delaySeconds - elapsed)
  }

  /// Counts a wrong code.
  public mutating func recordFailure(at time: Int64) {
    if failures < .max { failures += 1 }
    lastFailure = time
  }

  /// Restarts the delay at its full length: for the first use after a reboot.
  public mutating func restartDelay(at time: Int64) {
    if failures > 0 { lastFailure = time }
  }

  /// Forgets all failures, after a right code.
  public mutating func reset() {
    failures = 0
    lastFailure = nil
  }

  private var delaySeconds: Int64 {
    let (product, overflow) = unitSeconds.multipliedReportingOverflow(by: Int64(failures))
    return overflow ? maximumSeconds : min(product, maximumSeconds)
  }
}
