import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Attacks on PINs", .bounded)
struct AttackPINTests {
  /// Verified to fail when only printable ASCII counts as text.
  @Test(
    "a key that is text of any kind, or nearly so, is not masked, and one that is random is",
    .requirement("B10"),
    arguments: [
      (Array("a password of mine\n".utf8), false), (Array("ein Schlüssel für €".utf8), false),
      (Array("one\ttwo\r\nthree four".utf8), false), (Array("ten bytes\u{1F511}".utf8), false),
      (Array("ten bytes in".utf8) + [0xC3], false), (Array("ten bytes in".utf8) + [0x7F], false),
      ([0x80] + Array("ten bytes in".utf8), false), ([0] + Array("ten bytes in".utf8), false),
      ([0x5C, 0xE1, 0x0B, 0x93, 0xF4, 0x2A, 0x78, 0xD6, 0x41, 0xBE, 0x07, 0x9F, 0x66, 0xC8], true),
    ] as [([UInt8], Bool)])
  func textKeys(key: [UInt8], isMasked: Bool) throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let refusal = thrown { () throws(VaultError) in
      let suite = try! OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
      let new = NewOCRACredential(suite, name: "bank")
      _ = try rig.core.addOCRA(
        new, key: SecretBytes(copying: key), pin: pin, context: rig.typing("8306"))
    }
    #expect(refusal?.code == (isMasked ? nil : .policy))
  }

  /// Verified to fail when a confirmation asks for no code since the change.
  @Test(
    "a code from before a change confirms nothing, so a mistyped change can be undone", .requirement("B10"))
  func confirmed() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    _ = try rig.core.nextHOTPCode(of: id, context: rig.context("8306"))
    try rig.core.changePIN(pin, context: rig.context("8036", new: "5207"))
    let before = try rig.core.status().sequence
    expect(.policy) { () throws(VaultError) in try rig.core.confirmOTP(of: id) }
    expect(.policy) { () throws(VaultError) in try rig.core.confirmPIN(pin) }
    try expect(rig.core.status().sequence, equals: before)
    #expect(try rig.core.nextHOTPCode(of: id, context: rig.context("5207")).code != rig.code(at: 1))
    try rig.core.undoPINChange(pin)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).code, equals: rig.code(at: 2))
  }

  /// Verified to fail when the zeros count.
  @Test("a camouflaged PIN is not a common one with zeros, which has the same mask", .requirement("A3"))
  func commonWithZeros() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    for digits in ["12340", "123400", "258000", "198700"] {
      expect(.pinRefused) { () throws(VaultError) in
        let uri = try! rig.uri(PINRig.rawKey)
        _ = try rig.core.addOTP(uri, named: "bank", pin: pin, context: rig.typing(digits))
      }
    }
    let id = try rig.masked(behind: pin)
    expect(.pinRefused) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("8306", to: "123400"))
    }
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("123400")).code.count, equals: 6)
    _ = try rig.checked("123400")
  }

  /// Verified to fail when a wrong key throws before the log is written.
  @Test("a wrong unlock key is logged, and neither counts nor ends a block")
  func wrongUnlockKey() throws {
    let rig = try PINRig()
    var new = NewPINItem(.checked)
    new.limit = 5
    new.unlockKey = try .fresh()
    let pin = try rig.core.makePIN(new, context: rig.context(new: "8306")).id
    for _ in 0..<5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try rig.core.verifyPIN(pin, context: rig.typing("2749"))
      }
    }
    let other = try PINUnlockKey.fresh()
    rig.derivations.reset()
    expect(.authenticationFailed) { () throws(VaultError) in
      try rig.core.unlockPIN(pin, with: other, context: rig.changing("8306", to: "5207"))
    }
    expect(rig.derivations.count, equals: 0)
    let last = try #require(try rig.core.auditEntries().last)
    #expect(last.operation == .pinUnlocked && last.result == .authenticationFailed)
    expect(.blocked) { () throws(VaultError) in
      _ = try rig.core.verifyPIN(pin, context: rig.typing("8306"))
    }
  }

  /// Verified to fail when the verdict waits for the application password.
  @Test("a right PIN is no wrong attempt while the person is asked for more", .requirement("A7"))
  func slowPassword() throws {
    let rig = try PINRig()
    let pin = try rig.checked(limit: 5)
    let id = try rig.core.addOTP(
      rig.uri(Array("12345678901234567890".utf8)), named: "bank",
      access: AccessControl(.applicationPassword), pin: pin,
      context: AuthenticationContext(reason: "", prompt: MeanwhilePrompt { _ in })
    ).item.id
    for _ in 0..<4 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try rig.core.verifyPIN(pin, context: rig.typing("2749"))
      }
    }
    let (clock, other, wrong) = (rig.clock, try rig.place.openCore(), rig.typing("2749"))
    let prompt = MeanwhilePrompt { subject in
      guard subject == .applicationPassword else { return }
      clock.advance(by: .seconds(11))
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try other.verifyPIN(pin, context: wrong)
      }
    }
    let uses = try rig.core.state(of: pin).uses
    let context = AuthenticationContext(reason: "", prompt: prompt)
    try expect(rig.core.nextHOTPCode(of: id, context: context).code, equals: PINRig.rfc4226[0])
    let state = try rig.core.state(of: pin)
    #expect(state.failures == 1 && state.attemptsUnderWay == 0 && !state.isBlocked)
    expect(state.uses, equals: uses + 1)
    for _ in 0..<4 { _ = try? rig.core.verifyPIN(pin, context: rig.typing("2749")) }
    expect(.blocked) { () throws(VaultError) in _ = try rig.core.nextHOTPCode(of: id, context: context) }
    try expect(rig.counter(of: id), equals: 1)
  }
}

/// Types the PIN 8306 and a password, and does something before each answer.
private final class MeanwhilePrompt: Prompt {
  private let meanwhile: @Sendable (PromptRequest.Subject) -> Void

  init(_ meanwhile: @escaping @Sendable (PromptRequest.Subject) -> Void) { self.meanwhile = meanwhile }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    meanwhile(request.subject)
    return SecretBytes(testing: request.subject == .pin ? "8306" : "correct horse battery")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { true }
}
