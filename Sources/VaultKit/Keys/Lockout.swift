/// The vault's own state row: failures of the passcode, counted before a derivation runs (section 7, layout 2).
struct VaultState: Sendable {
  var bytes: [UInt8]

  init() {
    bytes = [UInt8](repeating: 0, count: ItemState.byteCount)
    bytes[0] = 2
  }

  init(bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == ItemState.byteCount, bytes[0] == 2 else {
      throw VaultError(.damaged, "the vault's own state is not readable")
    }
    self.bytes = bytes
  }

  var failures: UInt32 {
    get { bytes.bigEndian(at: 4) }
    set { bytes.setBigEndian(newValue, at: 4) }
  }
  var failureBootMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 8) }
    set { bytes.setBigEndian(newValue, at: 8) }
  }
  var boot: [UInt8] {
    get { Array(bytes[16..<32]) }
    set { bytes.replaceSubrange(16..<32, with: newValue) }
  }
  var failureWall: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: 32))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: 32) }
  }
  var delayMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 40) }
    set { bytes.setBigEndian(newValue, at: 40) }
  }
  /// Wrong phrases and fingers in a row.
  var biometryFailures: UInt32 {
    get { bytes.bigEndian(at: 48) }
    set { bytes.setBigEndian(newValue, at: 48) }
  }
  /// Attempts counted whose verdict is not written yet: they count as failures until it is.
  var underWay: UInt32 {
    get { bytes.bigEndian(at: 52) }
    set { bytes.setBigEndian(newValue, at: 52) }
  }
  /// Of the attempts without a verdict, those that no longer count, because a passcode was right since.
  var forgiven: UInt32 {
    get { bytes.bigEndian(at: 56) }
    set { bytes.setBigEndian(newValue, at: 56) }
  }
}

/// The delays between wrong passcodes: never a stop, or any program could destroy a vault with wrong tries.
enum Lockout {
  /// What may be done now.
  enum Verdict: Equatable { case go, wait(milliseconds: UInt64), refused(milliseconds: UInt64) }

  /// An attempt that stays without a verdict for this long was killed: it is a failure.
  static let verdictMilliseconds: UInt64 = 10_000

  /// The failures in a row after which there is a delay.
  static let freeFailures = 5

  /// The delay after so many failures in a row.
  static func delay(after failures: UInt32) -> UInt64 {
    let minutes: [UInt64] = [1, 5, 15, 30, 90, 240, 720]
    guard failures >= freeFailures else { return 0 }
    let index = Int(failures) - freeFailures
    return (index < minutes.count ? minutes[index] : 36 * 60) * 60_000
  }

  /// Counts an attempt that is about to run, or says why it may not.
  ///
  /// - Returns: With the verdict, how many earlier attempts are settled with this one: their processes were killed.
  static func begin(_ state: inout VaultState, clock: any VaultClock) -> (verdict: Verdict, killed: UInt32) {
    let now = clock.bootMilliseconds()
    let boot = clock.bootID() ?? [UInt8](repeating: 0, count: 16)
    var killed: UInt32 = 0
    if state.failures > 0 || state.isOpen, state.boot != boot || now < state.failureBootMilliseconds {
      killed = restart(&state, now, boot)
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

  /// How long no attempt is allowed from now on; `nil` when one is.
  static func remaining(_ state: VaultState, clock: any VaultClock) -> Duration? {
    var state = state
    guard case .refused(let milliseconds) = begin(&state, clock: clock).verdict else { return nil }
    return .milliseconds(milliseconds)
  }

  /// The attempt was right.
  static func succeed(_ state: inout VaultState) {
    finish(&state)
    forgive(&state)
  }

  /// No failure counts any more, also of the attempts that have no verdict yet.
  static func forgive(_ state: inout VaultState) {
    state.failures = 0
    state.forgiven &+= state.underWay
    state.underWay = 0
    state.delayMilliseconds = 0
  }

  /// The attempt was wrong. Returns the delay from now on, in milliseconds.
  static func fail(_ state: inout VaultState) -> UInt64 {
    finish(&state)
    state.failures = state.failures == .max ? .max : state.failures + 1
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
    return delay(after: state.failures)
  }

  /// The attempt never ran.
  static func takeBack(_ state: inout VaultState) {
    finish(&state)
    state.delayMilliseconds = delay(after: state.failures &+ state.underWay)
  }

  /// Another boot: the full delay begins anew; the wall clock never shortens it.
  private static func restart(_ state: inout VaultState, _ now: UInt64, _ boot: [UInt8]) -> UInt32 {
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

/// Biometry stops after a few failures in a row, until the passcode was right. Each attempt is counted as a failure
/// before it runs, and forgiven when it was right: one that was killed stays counted.
enum BiometryLockout {
  /// Failures in a row that are allowed.
  static let limit: UInt32 = 5

  /// Counts an attempt that is about to run; `false` where none may.
  static func begin(_ state: inout VaultState) -> Bool {
    guard state.biometryFailures < limit else { return false }
    state.biometryFailures += 1
    return true
  }

  /// The attempt was right, or the passcode was.
  static func succeed(_ state: inout VaultState) { state.biometryFailures = 0 }

  /// The attempt never ran.
  static func takeBack(_ state: inout VaultState) {
    if state.biometryFailures > 0 { state.biometryFailures -= 1 }
  }
}
