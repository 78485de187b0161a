import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("Verification of time-based codes", .bounded)
struct TOTPVerifierTests {
  private let now: Int64 = 30 * 1000 + 12

  private func code(_ step: UInt64) throws -> OTPCode {
    let generator = try HOTPGenerator(key: rfcKey())
    return try OTPCode(generator.code(at: step))
  }

  private func accept(
    _ verifier: inout TOTPVerifier, _ code: OTPCode, unixTime: Int64? = nil, at time: Int64 = 0
  ) throws -> OTPVerdict {
    try verifier.accept(code, by: TOTPGenerator(key: rfcKey()), unixTime: unixTime ?? now, at: time)
  }

  @Test("the steps of the window are accepted, none outside", arguments: -3...3)
  func window(_ distance: Int64) throws {
    var verifier = try TOTPVerifier()
    let step = UInt64(1000 + distance)
    let verdict = try accept(&verifier, code(step))
    if abs(distance) <= 1 {
      expect(verdict, equals: .accepted(OTPAcceptance(counter: step, distance: distance)))
      expect(verifier.lastAccepted, equals: step)
      expect(verifier.lastDrift, equals: distance)
    } else {
      expect(verdict, equals: .refused(.noMatch))
      #expect(verifier.lastAccepted == nil)
      expect(verifier.throttle.failures, equals: 1)
    }
  }

  @Test("no step up to the last accepted one is accepted again")
  func singleUse() throws {
    var verifier = try TOTPVerifier()
    _ = try accept(&verifier, code(1000))
    let after = verifier
    try expect(accept(&verifier, code(1000)), equals: .refused(.alreadyUsed))
    try expect(accept(&verifier, code(999)), equals: .refused(.alreadyUsed))
    expect(verifier, equals: after, "a replay changes nothing")
    try expect(accept(&verifier, code(1000), unixTime: now + 30), equals: .refused(.alreadyUsed))
    try expect(accept(&verifier, code(1001)), equals: .accepted(OTPAcceptance(counter: 1001, distance: 1)))
  }

  @Test("a clock set back brings no step to life again")
  func clockSetBack() throws {
    var verifier = try TOTPVerifier(lastAccepted: 1000)
    for step in UInt64(889)...891 {
      try expect(accept(&verifier, code(step), unixTime: 890 * 30), equals: .refused(.alreadyUsed))
    }
    try expect(accept(&verifier, code(1001), unixTime: 890 * 30), equals: .refused(.noMatch))
  }

  @Test("step 0 is a step like any other, and the window ends there")
  func stepZero() throws {
    var verifier = try TOTPVerifier()
    try expect(
      accept(&verifier, code(0), unixTime: 0), equals: .accepted(OTPAcceptance(counter: 0, distance: 0)))
    try expect(accept(&verifier, code(0), unixTime: 0), equals: .refused(.alreadyUsed))
    #expect(throws: OTPError.timeOutOfRange) { _ = try accept(&verifier, code(0), unixTime: -1) }
  }

  @Test(
    "two codes in a row find a clock that is far off, and the offset is kept",
    arguments: [-100, -2, 0, 2, 100])
  func resynchronization(_ offset: Int64) throws {
    var verifier = try TOTPVerifier()
    let generator = try TOTPGenerator(key: rfcKey())
    let second = UInt64(1000 + offset)
    let verdict = try verifier.resynchronize(
      code(second - 1), code(second), by: generator, unixTime: now, at: 0)
    expect(verdict, equals: .accepted(OTPAcceptance(counter: second, distance: offset)))
    expect(verifier.offsetSteps, equals: offset)
    try expect(
      accept(&verifier, code(second + 1), unixTime: now + 30),
      equals: .accepted(OTPAcceptance(counter: second + 1, distance: offset)))
  }

  @Test(
    "a pair that does not follow, is too far, or was used is refused",
    arguments: [(1000, 1002), (1121, 1122), (879, 880), (949, 950), (950, 951)])
  func refusedPairs(_ first: UInt64, _ second: UInt64) throws {
    var verifier = try TOTPVerifier(lastAccepted: 950)
    let generator = try TOTPGenerator(key: rfcKey())
    let verdict = try verifier.resynchronize(
      code(first), code(second), by: generator, unixTime: now, at: 0)
    expect(verdict, equals: .refused(.noMatch))
    expect(verifier.offsetSteps, equals: 0)
    expect(verifier.throttle.failures, equals: 1)
  }

  @Test("wrong codes cost a growing delay, during which nothing is looked at")
  func delay() throws {
    var verifier = try TOTPVerifier()
    try expect(accept(&verifier, code(5), at: 100), equals: .refused(.noMatch))
    try expect(accept(&verifier, code(1000), at: 104), equals: .refused(.waiting(remainingSeconds: 1)))
    let pair = try verifier.resynchronize(
      code(999), code(1000), by: TOTPGenerator(key: rfcKey()), unixTime: now, at: 104)
    expect(pair, equals: .refused(.waiting(remainingSeconds: 1)))
    try expect(
      accept(&verifier, code(1000), at: 105), equals: .accepted(OTPAcceptance(counter: 1000, distance: 0)))
  }

  @Test("a code of another format is an error and not counted")
  func otherFormat() throws {
    var verifier = try TOTPVerifier()
    let before = verifier
    #expect(throws: OTPError.invalidCode) { _ = try accept(&verifier, OTPCode("94287082")) }
    #expect(throws: OTPError.invalidCode) {
      _ = try verifier.resynchronize(
        OTPCode("755224"), OTPCode("5WGMB"), by: TOTPGenerator(key: rfcKey()), unixTime: now, at: 0)
    }
    expect(verifier, equals: before)
  }

  @Test("the ends of the step numbers do not trap")
  func extremes() throws {
    let generator = try TOTPGenerator(key: rfcKey(), periodSeconds: 1, t0: .min)
    var ahead = try TOTPVerifier(offsetSteps: .max)
    try expect(
      ahead.accept(code(.max), by: generator, unixTime: .max, at: 0),
      equals: .accepted(OTPAcceptance(counter: .max, distance: 0)))
    try expect(ahead.accept(code(.max), by: generator, unixTime: .max, at: 0), equals: .refused(.alreadyUsed))
    try expect(ahead.accept(code(7), by: generator, unixTime: .max, at: 0), equals: .refused(.noMatch))
    ahead.throttle.reset()
    try expect(
      ahead.resynchronize(code(1), code(2), by: generator, unixTime: .max, at: 0), equals: .refused(.noMatch))
    var behind = try TOTPVerifier(offsetSteps: .min)
    try expect(
      behind.accept(code(1), by: generator, unixTime: .min, at: 0),
      equals: .accepted(OTPAcceptance(counter: 1, distance: 1)))
  }

  @Test("a window that makes guessing easy is refused")
  func windows() {
    #expect(throws: OTPError.invalidWindow) { _ = try TOTPVerifier(window: 5001) }
    #expect(throws: OTPError.invalidWindow) { _ = try TOTPVerifier(resyncWindow: 5001) }
  }
}
