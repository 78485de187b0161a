import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("TOTP codes", .bounded)
struct TOTPGeneratorTests {
  @Test("a code says when it is valid and how long it still is")
  func validity() throws {
    let generator = try TOTPGenerator(key: rfcKey(), digits: 8)
    let before = try generator.code(at: 59)
    expect(before.code, equals: "94287082")
    #expect(before.step == (try TimeSteps().step(at: 59)))
    expect(before.step.validFrom, equals: 30)
    expect(before.step.validTo, equals: 60)
    expect(before.step.remaining, equals: 1)
    let after = try generator.code(at: 60)
    #expect(after.code != before.code)
    expect(after.step.validFrom, equals: 60)
    expect(after.step.remaining, equals: 30)
  }

  @Test("a period below one second is refused", arguments: [0, -1, Int64.min])
  func period(_ seconds: Int64) {
    #expect(throws: OTPError.invalidPeriod) { _ = try TimeSteps(periodSeconds: seconds) }
    #expect(throws: OTPError.invalidPeriod) { _ = try TOTPGenerator(key: rfcKey(), periodSeconds: seconds) }
  }

  @Test("a time before T0 is refused, T0 itself is step 0")
  func beforeT0() throws {
    let steps = try TimeSteps(periodSeconds: 7, t0: 100)
    #expect(throws: OTPError.timeOutOfRange) { _ = try steps.step(at: 99) }
    #expect(throws: OTPError.timeOutOfRange) { _ = try TimeSteps().step(at: -1) }
    try expect(steps.step(at: 100).number, equals: 0)
    try expect(steps.step(at: 106).number, equals: 0)
    try expect(steps.step(at: 107).number, equals: 1)
    #expect(throws: OTPError.timeOutOfRange) {
      _ = try TOTPGenerator(key: rfcKey(), t0: 5).code(at: 4)
    }
  }

  @Test("the ends of 64-bit time have steps", arguments: [1, 2, 30, 3600, Int64.max])
  func endsOfTime(_ period: Int64) throws {
    let late = try TimeSteps(periodSeconds: period).step(at: .max)
    expect(late.number, equals: UInt64(Int64.max / period))
    expect(late.validFrom, equals: Int64.max / period * period)
    expect(late.validTo, equals: .max)
    expect(late.remaining, equals: period - Int64.max % period)
    let whole = try TimeSteps(periodSeconds: period, t0: .min).step(at: .max)
    expect(whole.number, equals: UInt64.max / UInt64(period))
    let first = try TimeSteps(periodSeconds: period, t0: .min).step(at: .min)
    expect(first.number, equals: 0)
    expect(first.validFrom, equals: .min)
    expect(first.remaining, equals: period)
  }

  @Test("a step of one second is the time itself, and has a code up to 2^64 − 1")
  func lastStep() throws {
    let hotp = try HOTPGenerator(key: rfcKey())
    let totp = try TOTPGenerator(key: rfcKey(), periodSeconds: 1, t0: .min)
    try expect(totp.code(at: .max).code, equals: hotp.code(at: .max))
  }

  @Test("a clock offset moves the steps, and validity stays in the clock's own time")
  func clockOffset() throws {
    let steps = try TimeSteps()
    let corrected = try steps.correcting(clockOffsetSeconds: 45)
    let step = try corrected.step(at: 50)
    #expect(step.number == (try steps.step(at: 95).number))
    expect(step.validFrom, equals: 45)
    expect(step.validTo, equals: 75)
    try expect(corrected.correcting(clockOffsetSeconds: -45), equals: steps)
    #expect(throws: OTPError.timeOutOfRange) { _ = try steps.correcting(clockOffsetSeconds: .min) }
  }
}
