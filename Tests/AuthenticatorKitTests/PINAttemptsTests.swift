import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("Attempts of a PIN, as its state counts them", .bounded)
struct PINAttemptsTests {
  private let clock = FixedClock()

  private func begin(_ state: inout ItemState, limit: UInt32 = 5) -> PINAttempts.Verdict {
    PINAttempts.begin(&state, limit: limit, clock: clock).verdict
  }

  @Test("as many run at a time as are left, and the others wait for their verdicts")
  func waiting() {
    var state = ItemState()
    state.failures = 3
    expect([begin(&state), begin(&state), begin(&state)], equals: [.go, .go, .wait])
    PINAttempts.succeed(&state)
    #expect((state.failures, state.attemptsUnderWay) == (0, 1))
    expect(begin(&state), equals: .go)
  }

  /// Verified to fail when a lapsed attempt is taken back.
  @Test("without a verdict for 10 s an attempt counts as wrong, and the last one blocks")
  func lapsed() {
    var state = ItemState()
    state.failures = 3
    expect([begin(&state), begin(&state)], equals: [.go, .go])
    clock.advance(by: .milliseconds(9_999))
    expect(begin(&state), equals: .wait)
    clock.advance(by: .milliseconds(1))
    expect(begin(&state), equals: .blocked)
    #expect((state.failures, state.isBlocked) == (5, true))
    // Neither time nor another boot ends the block.
    clock.advance(by: .seconds(1 << 20))
    expect(begin(&state), equals: .blocked)
    clock.reboot()
    expect(begin(&state), equals: .blocked)
  }

  @Test("a late verdict never makes attempts out of wrong ones")
  func late() {
    var state = ItemState()
    expect(begin(&state), equals: .go)
    clock.advance(by: .seconds(10))
    expect(begin(&state), equals: .go)
    #expect((state.failures, state.attemptsUnderWay) == (1, 1))
    for _ in 0..<2 { PINAttempts.fail(&state, limit: 5) }
    #expect((state.failures, state.attemptsUnderWay) == (3, 0))
    expect(PINAttempts.left(state, limit: 5), equals: 2)
  }
}
