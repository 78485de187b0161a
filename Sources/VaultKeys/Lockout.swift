package import VaultFormat

/// The delays between wrong passcodes. They never become a permanent stop, or any program could destroy a vault with
/// wrong attempts.
package enum Lockout {
  /// Whether an attempt may run now.
  package enum Verdict: Equatable { case go, wait(milliseconds: UInt64), refused(milliseconds: UInt64) }

  /// An attempt without a verdict for this long was killed, and counts as a failure.
  package static let verdictMilliseconds: UInt64 = 10_000

  /// The number of consecutive failures after which there is a delay.
  package static let freeFailures = 5

  /// The delay after this number of consecutive failures.
  package static func delay(after failures: UInt32) -> UInt64 {
    let minutes: [UInt64] = [1, 5, 15, 30, 90, 240, 720]
    guard failures >= freeFailures else { return 0 }
    let index = Int(failures) - freeFailures
    return (index < minutes.count ? minutes[index] : 36 * 60) * 60_000
  }

  /// Counts an attempt that is about to run, or says why it may not.
  ///
  /// - Returns: The verdict, and how many earlier attempts this call settles because their processes were killed.
  package static func begin(_ state: inout VaultState, clock: any VaultClock) -> (
    verdict: Verdict, killed: UInt32
  ) {
    let now = clock.bootMilliseconds()
    let boot = clock.bootID() ?? [UInt8](repeating: 0, count: 16)
    var killed: UInt32 = 0
    if state.failures > 0 || state.isOpen, state.boot != boot || now < state.failureBootMilliseconds {
      killed = restart(&state, now: now, boot: boot)
    }
    let elapsed = now &- state.failureBootMilliseconds
    if state.isOpen, elapsed >= verdictMilliseconds { killed &+= settle(&state) }
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
    if elapsed < state.delayMilliseconds {
      let rest = state.delayMilliseconds - elapsed
      return (state.underWay > 0 ? .wait(milliseconds: 50) : .refused(milliseconds: rest), killed)
    }
    state.underWay &+= 1
    state.failureBootMilliseconds = now
    state.boot = boot
    state.failureWall = clock.now()
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
    return (.go, killed)
  }

  /// How long it takes until an attempt is allowed; `nil` if one is allowed now.
  package static func remaining(_ state: VaultState, clock: any VaultClock) -> Duration? {
    var state = state
    guard case .refused(let milliseconds) = begin(&state, clock: clock).verdict else { return nil }
    return .milliseconds(milliseconds)
  }

  /// The attempt was right.
  package static func succeed(_ state: inout VaultState) {
    finish(&state)
    forgive(&state)
  }

  /// Failures no longer count, including those of attempts that have no verdict yet.
  package static func forgive(_ state: inout VaultState) {
    state.failures = 0
    state.forgiven &+= state.underWay
    state.underWay = 0
    state.delayMilliseconds = 0
  }

  /// The attempt was wrong. Returns the delay from now on, in milliseconds.
  package static func fail(_ state: inout VaultState) -> UInt64 {
    finish(&state)
    state.failures = state.failures == .max ? .max : state.failures + 1
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
    return delay(after: state.failures)
  }

  /// The vault was restored: at least the delay of the fifth failure begins. Returns the delay in milliseconds.
  package static func restore(_ state: inout VaultState, clock: any VaultClock) -> UInt64 {
    _ = settle(&state)
    state.failures = max(state.failures, UInt32(freeFailures))
    state.failureBootMilliseconds = clock.bootMilliseconds()
    state.boot = clock.bootID() ?? [UInt8](repeating: 0, count: 16)
    state.failureWall = clock.now()
    state.delayMilliseconds = delay(after: state.failures)
    return state.delayMilliseconds
  }

  /// How many more wrong attempts are judged before a delay; 0 during a delay.
  package static func attemptsLeft(_ state: VaultState) -> Int { max(0, freeFailures - Int(state.failures)) }

  /// The attempt never ran.
  package static func takeBack(_ state: inout VaultState) {
    finish(&state)
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
  }

  /// After another boot, the full delay starts again; the wall clock never shortens it.
  private static func restart(_ state: inout VaultState, now: UInt64, boot: [UInt8]) -> UInt32 {
    state.failureBootMilliseconds = now
    state.boot = boot
    return settle(&state)
  }

  private static func settle(_ state: inout VaultState) -> UInt32 {
    let killed = state.underWay &+ state.forgiven
    state.failures = state.failures &+ state.underWay
    state.underWay = 0
    state.forgiven = 0
    return killed
  }

  /// One of the attempts under way has its verdict.
  private static func finish(_ state: inout VaultState) {
    if state.underWay > 0 { state.underWay -= 1 } else if state.forgiven > 0 { state.forgiven -= 1 }
  }
}

extension VaultState {
  /// Whether an attempt has no verdict yet.
  fileprivate var isOpen: Bool { underWay > 0 || forgiven > 0 }
}
