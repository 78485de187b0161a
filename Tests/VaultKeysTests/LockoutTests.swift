import TestSupport
import Testing
import VaultFormat
import VaultKeys
import VaultTestKit

@Suite("Delays after wrong passcodes", .bounded)
struct LockoutTests {
  private let clock = FixedClock()

  private func fail(_ state: inout VaultState, times: Int) {
    for _ in 0..<times {
      expect(Lockout.begin(&state, clock: clock).verdict, equals: .go)
      clock.advance(by: .milliseconds(Lockout.fail(&state)))
    }
  }

  /// Verified to fail when the first delay is two minutes.
  @Test("five failures cost nothing, and from then on each delay is longer, up to 36 hours")
  func delays() {
    let minutes = (0...13).map { Lockout.delay(after: UInt32($0)) / 60_000 }
    expect(minutes, equals: [0, 0, 0, 0, 0, 1, 5, 15, 30, 90, 240, 720, 2160, 2160])
    expect(Lockout.delay(after: .max), equals: 2160 * 60_000)
  }

  @Test("an attempt during a delay is refused and not counted; after it, the attempt runs")
  func refused() {
    var state = VaultState()
    fail(&state, times: 4)
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .go)
    expect(Lockout.fail(&state), equals: 60_000)
    clock.advance(by: .milliseconds(59_999))
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .refused(milliseconds: 1))
    expect(Lockout.remaining(state, clock: clock), equals: .milliseconds(1))
    expect(state.failures, equals: 5)
    clock.advance(by: .milliseconds(1))
    expect(Lockout.remaining(state, clock: clock), equals: nil)
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .go)
  }

  /// Verified to fail when a reboot leaves the time of the failure as it is.
  @Test("a reboot begins the whole delay again, and the wall clock ends none")
  func reboot() {
    var state = VaultState()
    fail(&state, times: 4)
    _ = Lockout.begin(&state, clock: clock)
    _ = Lockout.fail(&state)
    clock.set(to: Instant(seconds: 2_000_000_000))
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .refused(milliseconds: 60_000))
    clock.advance(by: .seconds(50))
    clock.reboot()
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .refused(milliseconds: 60_000))
  }

  /// Verified to fail when an attempt without a verdict is forgotten.
  @Test("an attempt whose process was killed counts as a failure after ten seconds")
  func killed() {
    var state = VaultState()
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .go)
    clock.advance(by: .milliseconds(Lockout.verdictMilliseconds))
    let next = Lockout.begin(&state, clock: clock)
    expect(next.verdict, equals: .go)
    expect(next.killed, equals: 1)
    expect(state.failures, equals: 1)
  }

  @Test("a right passcode forgives what was wrong before it, and what has no verdict yet")
  func right() {
    var state = VaultState()
    fail(&state, times: 4)
    _ = Lockout.begin(&state, clock: clock)
    _ = Lockout.begin(&state, clock: clock)
    Lockout.succeed(&state)
    expect(state.failures, equals: 0)
    expect(state.underWay, equals: 0)
    expect(Lockout.attemptsLeft(state), equals: Lockout.freeFailures)
  }

  @Test("a restored vault begins with the delay of the fifth failure, and keeps a longer one")
  func restored() {
    var state = VaultState()
    expect(Lockout.restore(&state, clock: clock), equals: 60_000)
    expect(Lockout.begin(&state, clock: clock).verdict, equals: .refused(milliseconds: 60_000))
    state.failures = 7
    expect(Lockout.restore(&state, clock: clock), equals: 15 * 60_000)
  }
}
