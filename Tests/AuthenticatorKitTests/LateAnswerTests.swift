import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What follows the clock is made when it is permitted, and not when it was asked for.
@Suite("A person who takes long to answer", .bounded)
struct LateAnswerTests {
  private static let key = "12345678901234567890"
  private let clock = FixedClock()
  private let place: TemporaryVault
  private let core: VaultCore
  private let access: AccessControl

  init() throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    core = try place.makeCore(passcode: "passcode")
    access = try AccessControl(.devicePasscode)
  }

  private var context: AuthenticationContext {
    AuthenticationContext(reason: "", prompt: LatePrompt(clock: clock))
  }

  private func suite(_ data: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA1-6:\(data)") }

  private func addOCRA(_ suite: OCRASuite, role: OTPRole = .prover) throws -> ItemID {
    var new = NewOCRACredential(suite, name: "suite", role: role)
    new.access = access
    return try core.addOCRA(new, key: SecretBytes(testing: Self.key)).item.id
  }

  /// Verified to fail when the time is read before the person is asked, for a suite with a counter and for one without.
  @Test("signs with the time of the answer", .requirement("A16"), arguments: ["QN08-T1M", "C-QN08-T1M"])
  func signature(data: String) throws {
    let suite = try suite(data)
    let id = try addOCRA(suite)
    let question = try OCRAQuestion("00000000", for: suite)
    let result = try core.signOCRA(OCRARequest(question), with: id, context: context)
    let now = clock.now().seconds
    #expect(now == 1_700_000_300 && result.validity?.contains(now) == true)
    let input = OCRADataInput(
      question: question, counter: result.counter, timeStep: try suite.timeStep(at: now).number)
    let generator = try OCRAGenerator(key: SecretBytes(testing: Self.key), suite: suite)
    try expect(result.code, equals: generator.code(for: input))
  }

  /// Verified to fail when the clocks are read before the person is asked.
  @Test("has a code judged by the time of the answer", .requirement("A16"))
  func verification() throws {
    let uri = "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let timed = try core.addOTP(
      OTPAuthURI(parsing: SecretBytes(testing: uri)), named: "timed", role: .verifier, access: access
    ).item.id
    let late = clock.now().seconds + 300
    let code = try TOTPGenerator(
      key: SecretBytes(testing: Self.key), algorithm: .sha1, format: .decimal(6),
      steps: TimeSteps(periodSeconds: 30)
    ).code(at: late).code
    _ = try core.verifyOTP(of: timed, code: code, context: context)
    try expect(core.state(of: timed).lastUse.seconds, equals: late)
    let suite = try suite("QN08-T1M")
    let id = try addOCRA(suite, role: .verifier)
    let question = try OCRAQuestion("00000000", for: suite)
    let input = OCRADataInput(question: question, timeStep: try suite.timeStep(at: late + 300).number)
    let signed = try OCRAGenerator(key: SecretBytes(testing: Self.key), suite: suite).code(for: input)
    _ = try core.verifyOCRA(signed, for: OCRARequest(question), with: id, context: context)
  }

  /// Verified to fail when the life of the token begins before its application password is typed.
  @Test("stores a token that lives from the answer on", .requirement("C3"))
  func token() throws {
    var new = NewCardToken("card", timeToLive: .seconds(1000))
    new.access = try AccessControl(.applicationPassword)
    let token = try core.storeToken(
      new, secret: SharedSecret(SecretBytes(testing: "token")), context: context)
    #expect(token.secondsLeft == 1000 && clock.now().seconds > 1_700_000_000)
  }
}

/// A person who types the passcode after five minutes.
private struct LatePrompt: Prompt {
  let clock: FixedClock

  func readSecret(_ request: PromptRequest) -> SecretBytes {
    clock.advance(by: .seconds(300))
    return SecretBytes(testing: "passcode")
  }
  func confirm(_ request: PromptRequest) -> Bool { false }
  func show(_ line: String, for request: PromptRequest) {}
  func cancel() {}
}
