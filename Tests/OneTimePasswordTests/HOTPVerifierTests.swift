import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("Verification of counter-based codes", .bounded)
struct HOTPVerifierTests {
  private func code(_ counter: UInt64) throws -> OTPCode {
    let generator = try HOTPGenerator(key: rfcKey())
    return try OTPCode(generator.code(at: counter))
  }

  private func accept(_ verifier: inout HOTPVerifier, _ code: OTPCode, at time: Int64 = 0) throws
    -> OTPVerdict
  {
    try verifier.accept(code, by: HOTPGenerator(key: rfcKey()), at: time)
  }

  @Test("codes up to the look-ahead are accepted, none beyond", arguments: 0...20)
  func lookAhead(_ distance: UInt64) throws {
    var verifier = try HOTPVerifier(nextCounter: 100, lookAhead: 10)
    let verdict = try accept(&verifier, code(100 + distance))
    if distance <= 10 {
      expect(verdict, equals: .accepted(OTPAcceptance(counter: 100 + distance, distance: Int64(distance))))
      expect(verifier.nextCounter, equals: 101 + distance)
      expect(verifier.lastAccepted, equals: 100 + distance)
      expect(verifier.throttle.failures, equals: 0)
    } else {
      expect(verdict, equals: .refused(.noMatch))
      expect(verifier.nextCounter, equals: 100)
      expect(verifier.throttle.failures, equals: 1)
    }
  }

  @Test("a code is accepted once, and none before it ever")
  func singleUse() throws {
    var verifier = try HOTPVerifier()
    _ = try accept(&verifier, code(5))
    let after = verifier
    try expect(accept(&verifier, code(5)), equals: .refused(.alreadyUsed))
    expect(verifier, equals: after, "a replay changes nothing")
    for counter in UInt64(0)..<5 {
      var copy = after
      try expect(accept(&copy, code(counter)), equals: .refused(.noMatch))
      expect(copy.nextCounter, equals: 6)
    }
    try expect(accept(&verifier, code(6)), equals: .accepted(OTPAcceptance(counter: 6, distance: 0)))
  }

  @Test("counter 0 is a counter like any other")
  func counterZero() throws {
    var verifier = try HOTPVerifier()
    try expect(accept(&verifier, code(0)), equals: .accepted(OTPAcceptance(counter: 0, distance: 0)))
    expect(verifier.lastAccepted, equals: 0)
    try expect(accept(&verifier, code(0)), equals: .refused(.alreadyUsed))
  }

  @Test("two codes in a row find the counter again, one alone does not")
  func resynchronization() throws {
    var verifier = try HOTPVerifier(nextCounter: 10)
    let generator = try HOTPGenerator(key: rfcKey())
    try expect(accept(&verifier, code(510)), equals: .refused(.noMatch))
    try expect(
      verifier.resynchronize(code(510), code(511), by: generator, at: 100),
      equals: .accepted(OTPAcceptance(counter: 511, distance: 501)))
    expect(verifier.nextCounter, equals: 512)
    expect(verifier.throttle, equals: Throttle())
    try expect(accept(&verifier, code(511)), equals: .refused(.alreadyUsed))
  }

  @Test(
    "a pair that does not follow, is too far, or was used is refused and counted",
    arguments: [(510, 512), (511, 510), (510, 510), (1011, 1012), (8, 9), (9, 10)])
  func refusedPairs(_ first: UInt64, _ second: UInt64) throws {
    var verifier = try HOTPVerifier(nextCounter: 10, resyncWindow: 1000)
    let verdict = try verifier.resynchronize(
      code(first), code(second), by: HOTPGenerator(key: rfcKey()), at: 0)
    expect(verdict, equals: .refused(.noMatch))
    expect(verifier.nextCounter, equals: 10)
    expect(verifier.throttle.failures, equals: 1)
  }

  @Test("the farthest pair of the resynchronization window is found")
  func farthestPair() throws {
    var verifier = try HOTPVerifier(nextCounter: 10, resyncWindow: 1000)
    let verdict = try verifier.resynchronize(code(1010), code(1011), by: HOTPGenerator(key: rfcKey()), at: 0)
    expect(verdict, equals: .accepted(OTPAcceptance(counter: 1011, distance: 1001)))
  }

  @Test("wrong codes cost a growing delay, during which nothing is looked at")
  func delay() throws {
    var verifier = try HOTPVerifier()
    let wrong = try code(500)
    try expect(accept(&verifier, wrong, at: 100), equals: .refused(.noMatch))
    try expect(accept(&verifier, code(0), at: 104), equals: .refused(.waiting(remainingSeconds: 1)))
    expect(verifier.nextCounter, equals: 0)
    try expect(accept(&verifier, wrong, at: 105), equals: .refused(.noMatch))
    try expect(accept(&verifier, code(0), at: 114), equals: .refused(.waiting(remainingSeconds: 1)))
    let pair = try verifier.resynchronize(code(0), code(1), by: HOTPGenerator(key: rfcKey()), at: 114)
    expect(pair, equals: .refused(.waiting(remainingSeconds: 1)))
    try expect(accept(&verifier, code(0), at: 115), equals: .accepted(OTPAcceptance(counter: 0, distance: 0)))
    expect(verifier.throttle.failures, equals: 0)
  }

  @Test("a code of another format is an error and not counted")
  func otherFormat() throws {
    var verifier = try HOTPVerifier()
    let before = verifier
    let generator = try HOTPGenerator(key: rfcKey())
    #expect(throws: OTPError.invalidCode) {
      _ = try verifier.accept(OTPCode("1234567"), by: generator, at: 0)
    }
    #expect(throws: OTPError.invalidCode) {
      _ = try verifier.resynchronize(OTPCode("755224"), OTPCode("5WGMB"), by: generator, at: 0)
    }
    expect(verifier, equals: before)
  }

  @Test("the last counters are used up, never passed")
  func exhaustion() throws {
    var verifier = try HOTPVerifier(nextCounter: .max - 3)
    try expect(accept(&verifier, code(.max)), equals: .refused(.noMatch))
    verifier.throttle.reset()
    let pair = try verifier.resynchronize(
      code(.max - 1), code(.max), by: HOTPGenerator(key: rfcKey()), at: 0)
    expect(pair, equals: .refused(.noMatch))
    verifier.throttle.reset()
    try expect(
      accept(&verifier, code(.max - 1)), equals: .accepted(OTPAcceptance(counter: .max - 1, distance: 2)))
    expect(verifier.nextCounter, equals: .max)
    #expect(throws: OTPError.counterExhausted) { _ = try accept(&verifier, code(.max)) }
    #expect(throws: OTPError.counterExhausted) {
      var last = try HOTPVerifier(nextCounter: .max - 1)
      _ = try last.resynchronize(code(0), code(1), by: HOTPGenerator(key: rfcKey()), at: 0)
    }
  }

  @Test("a window that makes guessing easy is refused")
  func windows() {
    #expect(throws: OTPError.invalidWindow) { _ = try HOTPVerifier(lookAhead: 10_001) }
    #expect(throws: OTPError.invalidWindow) { _ = try HOTPVerifier(resyncWindow: .max) }
  }
}

@Suite("The delay after wrong codes", .bounded)
struct ThrottleTests {
  @Test("it grows by five seconds with every failure, up to an hour")
  func growth() {
    var throttle = Throttle()
    expect(throttle.remainingSeconds(at: 0), equals: 0)
    for failure in 1...800 {
      throttle.recordFailure(at: 1000)
      expect(throttle.remainingSeconds(at: 1000), equals: min(Int64(failure) * 5, 3600))
    }
    throttle.reset()
    expect(throttle, equals: Throttle())
  }

  @Test("it ends exactly when it is over")
  func end() {
    var throttle = Throttle()
    throttle.recordFailure(at: 1000)
    expect(throttle.remainingSeconds(at: 1004), equals: 1)
    expect(throttle.remainingSeconds(at: 1005), equals: 0)
    expect(throttle.remainingSeconds(at: .max), equals: 0)
  }

  @Test("a clock that went back shortens nothing, and a restart begins again")
  func clockSetBack() {
    var throttle = Throttle()
    throttle.recordFailure(at: 1000)
    expect(throttle.remainingSeconds(at: 999), equals: 5)
    expect(throttle.remainingSeconds(at: .min), equals: 5)
    throttle.restartDelay(at: 20)
    expect(throttle.remainingSeconds(at: 22), equals: 3)
    expect(throttle.failures, equals: 1)
    var clean = Throttle()
    clean.restartDelay(at: 20)
    expect(clean, equals: Throttle())
  }

  @Test("numbers at their ends do not trap")
  func extremes() {
    var throttle = Throttle(
      failures: .max, lastFailure: .min, unitSeconds: .max, maximumSeconds: .max)
    expect(throttle.remainingSeconds(at: .min), equals: .max)
    expect(throttle.remainingSeconds(at: .max), equals: 0)
    throttle.recordFailure(at: .max)
    expect(throttle.failures, equals: .max)
    expect(Throttle(failures: 3, lastFailure: 0, unitSeconds: -5).remainingSeconds(at: 0), equals: 0)
  }
}

@Suite("Counters reserved in a block", .bounded)
struct CounterReservationTests {
  @Test("a block hands out its counters once, and names the counter to store")
  func block() throws {
    var block = try CounterReservation(startingAt: 7, count: 3, lookAhead: 10)
    expect(block.counterAfterBlock, equals: 10)
    expect(block.remaining, equals: 3)
    let taken = [block.take(), block.take(), block.take(), block.take()]
    expect(taken, equals: [7, 8, 9, nil])
    expect(block.remaining, equals: 0)
  }

  @Test(
    "a block is smaller than half the look-ahead",
    arguments: [(1, 2, false), (1, 3, true), (4, 10, true), (5, 10, false), (5, 11, true), (0, 100, false)])
  func size(count: UInt64, lookAhead: UInt64, isAllowed: Bool) {
    #expect(
      (try? CounterReservation(startingAt: 0, count: count, lookAhead: lookAhead).remaining)
        == (isAllowed ? count : nil))
    if !isAllowed {
      #expect(throws: OTPError.invalidReservation) {
        _ = try CounterReservation(startingAt: 0, count: count, lookAhead: lookAhead)
      }
    }
  }

  @Test("a block does not pass the last counter")
  func end() throws {
    #expect(throws: OTPError.counterExhausted) {
      _ = try CounterReservation(startingAt: .max - 3, count: 4, lookAhead: .max)
    }
    try expect(
      CounterReservation(startingAt: .max - 4, count: 4, lookAhead: .max).counterAfterBlock, equals: .max)
  }
}
