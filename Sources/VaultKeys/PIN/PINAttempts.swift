package import VaultFormat

/// The attempts of a checked PIN, as its state counts them (section 11). An attempt is counted on disk before its derivation, and
/// after the derivation has its memory. One that its own process ends without a verdict is taken back: as many PINs are judged as
/// the limit allows.
package enum PINAttempts {
  /// Whether an attempt may run now.
  package enum Verdict: Equatable {
    case go
    /// Others are under way that may be the last ones.
    case wait
    case blocked
  }

  /// The limit of an item that names none.
  package static let standardLimit: UInt32 = 10
  /// The limits that an item may name.
  package static let limits = 5...20
  /// An attempt without a verdict for this long was killed, and counts as a failure.
  package static let verdictMilliseconds: UInt64 = 10_000

  /// Counts an attempt that is about to run, or says why it may not.
  ///
  /// - Returns: The verdict, and how many earlier attempts become failures because they never got a verdict.
  package static func begin(
    _ state: inout ItemState, limit: UInt32, clock: any VaultClock
  ) -> (verdict: Verdict, killed: UInt32) {
    let now = clock.bootMilliseconds()
    let boot = clock.bootID() ?? [UInt8](repeating: 0, count: 16)
    let killed = isLapsed(state, now: now, boot: boot) ? settle(&state, limit: limit) : 0
    guard !state.isBlocked else { return (.blocked, killed) }
    guard counted(state) < limit else {
      if state.attemptsUnderWay > 0 { return (.wait, killed) }
      state.isBlocked = true
      return (.blocked, killed)
    }
    state.attemptsUnderWay += 1
    state.failureBootMilliseconds = now
    state.failureBoot = boot
    return (.go, killed)
  }

  /// The attempt was right.
  package static func succeed(_ state: inout ItemState) {
    finish(&state)
    state.failures = 0
  }

  /// The attempt was wrong. The last one blocks the PIN.
  package static func fail(_ state: inout ItemState, limit: UInt32) {
    finish(&state)
    addFailures(1, to: &state, limit: limit)
  }

  /// The attempt got no verdict: it reveals nothing about the PIN, so it is not a failure.
  package static func takeBack(_ state: inout ItemState) { finish(&state) }

  /// How many more wrong PINs are judged, if those under way are wrong.
  package static func left(_ state: ItemState, limit: UInt32) -> Int {
    guard !state.isBlocked, counted(state) < limit else { return 0 }
    return Int(limit - counted(state))
  }

  private static func counted(_ state: ItemState) -> UInt32 {
    let (sum, isBeyond) = state.failures.addingReportingOverflow(state.attemptsUnderWay)
    return isBeyond ? .max : sum
  }

  private static func isLapsed(_ state: ItemState, now: UInt64, boot: [UInt8]) -> Bool {
    guard state.attemptsUnderWay > 0 else { return false }
    guard state.failureBoot == boot, now >= state.failureBootMilliseconds else { return true }
    return now - state.failureBootMilliseconds >= verdictMilliseconds
  }

  private static func settle(_ state: inout ItemState, limit: UInt32) -> UInt32 {
    let killed = state.attemptsUnderWay
    state.attemptsUnderWay = 0
    addFailures(killed, to: &state, limit: limit)
    return killed
  }

  private static func addFailures(_ count: UInt32, to state: inout ItemState, limit: UInt32) {
    let (sum, isBeyond) = state.failures.addingReportingOverflow(count)
    state.failures = isBeyond ? .max : sum
    if state.failures >= limit { state.isBlocked = true }
  }

  /// One of the attempts under way has its verdict, or had none for so long that it counts as a failure already.
  private static func finish(_ state: inout ItemState) {
    if state.attemptsUnderWay > 0 { state.attemptsUnderWay -= 1 }
  }
}
