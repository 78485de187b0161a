import TestSupport
import Testing
import VaultAgent

/// The time for which a vault stays unlocked, by a clock that the test moves.
@Suite("Leases", .bounded, .requirement("G2"))
struct LeaseTests {
  @Test("a lease ends after ten minutes without a use, and after twelve hours in any case")
  func usual() {
    var lease = Lease(from: 1000)
    #expect(!lease.hasEnded(at: 600_999) && lease.hasEnded(at: 601_000))
    expect(lease.reason, equals: .idle)
    for minute in stride(from: UInt64(5), through: 12 * 60, by: 5) { lease.use(at: 1000 + minute * 60_000) }
    let end: UInt64 = 1000 + 12 * 3_600_000
    expect(lease.idleEnd, equals: end)
    expect(lease.reason, equals: .leaseEnded)
    #expect(lease.hasEnded(at: end) && !lease.hasEnded(at: end - 1))
  }

  @Test("an idle time beyond the absolute end ends with it, and a lease without a time has ended")
  func edges() {
    let long = Lease(from: 5, idle: .seconds(60), absolute: .seconds(1))
    expect(long.idleEnd, equals: 1005)
    expect(long.idleLeft(at: 5), equals: .seconds(1))
    #expect(Lease(from: 5, idle: .zero).hasEnded(at: 5))
    #expect(Lease(from: 5, idle: .seconds(-1)).hasEnded(at: 5))
    #expect(
      !Lease(from: .max - 1, idle: .seconds(Int64.max), absolute: .seconds(Int64.max)).hasEnded(at: .max - 1))
  }

  @Test("after any steps the lease ends where the model says, and never later than its absolute end")
  func model() {
    var random = SeededGenerator(seed: 40)
    for _ in 0..<500 {
      let (idle, absolute) = (
        UInt64.random(in: 0..<90, using: &random) + 1, UInt64.random(in: 0..<400, using: &random) + 1
      )
      var now = UInt64.random(in: 0..<1_000_000, using: &random)
      var lease = Lease(from: now, idle: .milliseconds(Int64(idle)), absolute: .milliseconds(Int64(absolute)))
      let absoluteEnd = now + absolute
      var end = min(now + idle, absoluteEnd)
      for _ in 0..<30 {
        now += UInt64.random(in: 0..<40, using: &random)
        if UInt64.random(in: 0..<2, using: &random) == 0 {
          if now < end { end = min(now + idle, absoluteEnd) }
          lease.use(at: now)
        }
        expect(lease.idleEnd, equals: end)
        expect(lease.hasEnded(at: now), equals: now >= end)
        expect(lease.idleLeft(at: now), equals: .milliseconds(now < end ? Int64(end - now) : 0))
      }
    }
  }
}
