import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("Verification of OCRA codes", .bounded, .requirement("A16"))
struct OCRAVerifierTests {
  private static let time: Int64 = 1_000_000

  private func suite(_ data: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA1-6:\(data)") }

  private func input(_ suite: OCRASuite, _ question: String) throws -> OCRADataInput {
    OCRADataInput(question: try OCRAQuestion(question, for: suite))
  }

  private func code(
    _ suite: OCRASuite, _ question: String = "12345678", counter: UInt64? = nil, at time: Int64? = nil
  ) throws -> OCRACode {
    var input = try input(suite, question)
    (input.counter, input.timeStep) = (counter, try time.map { try suite.timeStep(at: $0).number })
    return try OCRACode(OCRAGenerator(key: rfcKey(), suite: suite).code(for: input), for: suite)
  }

  private func accept(
    _ verifier: inout OCRAVerifier, _ code: OCRACode, _ suite: OCRASuite, _ question: String = "12345678",
    boot: Int64 = 0
  ) throws -> OTPVerdict {
    try verifier.accept(
      code, by: OCRAGenerator(key: rfcKey(), suite: suite), input: input(suite, question),
      unixTime: Self.time, at: boot)
  }

  /// Verified to fail when a counter is not moved after its code.
  @Test(
    "with a counter, codes up to the window are accepted, each once", arguments: ["C-QN08", "C-QN08-T1M"])
  func counter(data: String) throws {
    let suite = try suite(data)
    let time = suite.timeStepSeconds == nil ? nil : Self.time
    for distance: UInt64 in [0, 1, 10, 11] {
      var verifier = try OCRAVerifier(nextCounter: 100, window: 10)
      let code = try code(suite, counter: 100 + distance, at: time)
      let verdict = try accept(&verifier, code, suite)
      guard distance <= 10 else {
        #expect(verdict == .refused(.noMatch) && verifier.throttle.failures == 1)
        continue
      }
      expect(verdict, equals: .accepted(OTPAcceptance(counter: 100 + distance, distance: Int64(distance))))
      expect(verifier.nextCounter, equals: 101 + distance)
      let after = verifier
      try expect(accept(&verifier, code, suite), equals: .refused(.alreadyUsed))
      expect(verifier, equals: after, "a replay changes nothing")
    }
  }

  @Test("with time and a counter, one step to either side is tried", arguments: -2...2)
  func bothWindows(steps: Int64) throws {
    let suite = try suite("C-QN08-T1M")
    var verifier = try OCRAVerifier(window: 10)
    let code = try code(suite, counter: 3, at: Self.time + 60 * steps)
    let isAccepted = try accept(&verifier, code, suite) == .accepted(OTPAcceptance(counter: 3, distance: 3))
    #expect(isAccepted == (abs(steps) <= 1))
  }

  /// Verified to fail when the step of an accepted code is not stored.
  @Test("with time alone, a step of the window is accepted once, for any question", arguments: -3...3)
  func time(steps: Int64) throws {
    let suite = try suite("QN08-T1M")
    var verifier = try OCRAVerifier(window: 2)
    let time = Self.time + 60 * steps
    let verdict = try accept(&verifier, code(suite, at: time), suite)
    guard abs(steps) <= 2 else { return expect(verdict, equals: .refused(.noMatch)) }
    let number = try suite.timeStep(at: time).number
    expect(verdict, equals: .accepted(OTPAcceptance(counter: number, distance: steps)))
    let other = try code(suite, "87654321", at: time)
    try expect(accept(&verifier, other, suite, "87654321"), equals: .refused(.alreadyUsed))
    let next = try accept(&verifier, code(suite, at: time + 60), suite)
    #expect(
      next
        == (steps < 2
          ? .accepted(OTPAcceptance(counter: number + 1, distance: steps + 1)) : .refused(.noMatch)))
  }

  @Test("with neither, the question decides alone, and wrong codes cost a delay")
  func question() throws {
    let suite = try suite("QN08")
    var verifier = try OCRAVerifier(window: 10)
    for _ in 0..<2 {
      try expect(
        accept(&verifier, code(suite), suite), equals: .accepted(OTPAcceptance(counter: 0, distance: 0)))
    }
    try expect(accept(&verifier, code(suite), suite, "12345679", boot: 100), equals: .refused(.noMatch))
    try expect(
      accept(&verifier, code(suite), suite, boot: 104), equals: .refused(.waiting(remainingSeconds: 1)))
    try expect(
      accept(&verifier, code(suite), suite, boot: 105),
      equals: .accepted(OTPAcceptance(counter: 0, distance: 0)))
    #expect(verifier.throttle == Throttle() && verifier.lastAccepted == nil)
  }

  @Test("the last counter has no successor: it is never accepted, and then nothing is")
  func end() throws {
    let suite = try suite("C-QN08")
    var verifier = try OCRAVerifier(nextCounter: .max - 2, window: 10)
    try expect(accept(&verifier, code(suite, counter: .max), suite), equals: .refused(.noMatch))
    verifier = try OCRAVerifier(nextCounter: .max - 2, window: 10)
    _ = try accept(&verifier, code(suite, counter: .max - 1), suite)
    expect(verifier.nextCounter, equals: .max)
    #expect(throws: OTPError.counterExhausted) { try accept(&verifier, code(suite, counter: .max), suite) }
  }

  @Test("values that the suite does not allow are errors, and nothing is counted")
  func values() throws {
    let (suite, other) = (try suite("C-QN08"), try self.suite("C-QN08-S064"))
    var verifier = try OCRAVerifier(window: 10)
    let code = try code(suite, counter: 0)
    #expect(throws: OTPError.missingInput(.session)) { try accept(&verifier, code, other) }
    #expect(verifier == (try OCRAVerifier(window: 10)))
    #expect(throws: OTPError.invalidWindow) { try OCRAVerifier(window: 1001) }
  }
}
