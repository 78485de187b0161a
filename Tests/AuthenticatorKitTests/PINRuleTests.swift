import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Rules of PINs", .bounded)
struct PINRuleTests {
  static let malformed = [
    "123", "1234567", "12a4", "    ", "٨٣٠٦", "８３０６", "83\u{0}6", String(repeating: "8", count: 1 << 20),
  ]

  /// Verified to fail when other bytes than digits are a PIN.
  @Test("a PIN is 4 to 6 ASCII digits, whoever judges it; anything else changes nothing", .requirement("A3"))
  func forms() throws {
    let rig = try PINRig()
    let ids = [
      try rig.credential(behind: rig.checked()), try rig.masked(behind: rig.camouflaged(), named: "b"),
    ]
    let before = try rig.core.status().sequence
    rig.derivations.reset()
    for digits in Self.malformed + [""] {
      let context = AuthenticationContext(reason: "", prompt: ChannelPrompt(digits))
      for id in ids {
        expect(.pinRefused) { () throws(VaultError) in _ = try rig.core.nextHOTPCode(of: id, context: context)
        }
      }
      expect(.pinRefused) { () throws(VaultError) in
        var new = NewPINItem(.checked)
        new.name = "third"
        _ = try rig.core.makePIN(new, context: context)
      }
    }
    try expect(rig.core.status().sequence, equals: before)
    expect(rig.derivations.count, equals: 0)
  }

  @Test(
    "PINs of 4 and of 6 digits pass", .requirement("A3"), arguments: ["8306", "83061", "830617", "0000830"])
  func lengths(digits: String) throws {
    let rig = try PINRig()
    var new = NewPINItem(.checked)
    if digits.utf8.count > 6 { new.policy = try PINPolicy(lengths: 7...8) }
    let pin = try PIN(SecretBytes(testing: digits), policy: new.policy ?? .standard)
    let context = AuthenticationContext(reason: "")
    context.provide(new: pin)
    let id = try rig.core.makePIN(new, context: context).id
    let again = AuthenticationContext(reason: "")
    again.provide(try PIN(SecretBytes(testing: digits), policy: new.policy ?? .standard))
    try expect(rig.core.verifyPIN(id, context: again).item, equals: id)
  }

  @Test(
    "a PIN that a thief tries first is refused when it is set",
    arguments: [
      "1234", "4321", "0123", "7890", "1111", "4545", "1984", "2024", "2580", "1212", "123456", "654321",
      "111111",
      "123123", "121212", "112233", "159753", "12345",
    ])
  func common(digits: String) throws {
    let rig = try PINRig()
    expect(.pinRefused) { () throws(VaultError) in
      _ = try rig.core.makePIN(NewPINItem(.checked), context: rig.changing("8306", to: digits))
    }
    let pin = try rig.camouflaged()
    #expect(throws: VaultError.self) { try rig.masked(behind: pin, typing: digits) }
    _ = try rig.masked(behind: pin, typing: "8306")
    expect(.pinRefused) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("8306", to: digits))
    }
  }

  @Test("few PINs are common")
  func uncommon() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    var refused = 0
    for number in stride(from: 0, to: 10_000, by: 37) {
      let digits = String(String(number + 10_000).dropFirst())
      do throws(VaultError) { try rig.core.changePIN(pin, context: rig.context("83061", new: digits)) } catch
      {
        expect(error.code, equals: .pinRefused)
        refused += 1
      }
    }
    #expect(1...20 ~= refused)
  }

  @Test("the PIN is not the passcode that the context was given")
  func passcode() throws {
    let rig = try PINRig(passcode: "8306")
    expect(.pinRefused) { () throws(VaultError) in
      let context = rig.changing("5207", to: "8306")
      context.provide(try Passcode(testing: "8306"))
      _ = try rig.core.makePIN(NewPINItem(.checked), context: context)
    }
  }

  @Test("the PIN is not the passcode that was typed for the same call")
  func typedPasscode() throws {
    let rig = try PINRig(passcode: "830617")
    rig.core.lock()
    let prompt = ScriptedPrompt([
      .text("830617"), .text("830617"), .text("830617"), .text("8306"), .text("8306"),
    ])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    _ = try rig.core.makePIN(NewPINItem(.checked), context: context)
    expect(prompt.unused, equals: 0)
    #expect(prompt.requests.map(\.problem).contains("the PIN must not be the passcode of the vault"))
  }

  @Test("limits, policies and access rules that a PIN item cannot have are refused")
  func newItems() throws {
    let rig = try PINRig()
    func expectRefused(_ code: VaultError.Code, _ mode: PINMode, _ change: (inout NewPINItem) throws -> Void)
      throws
    {
      var new = NewPINItem(mode)
      try change(&new)
      expect(code) { () throws(VaultError) in
        _ = try rig.core.makePIN(new, context: rig.changing("5207", to: "8306"))
      }
    }
    for limit in [4, 21, 0, -1] { try expectRefused(.malformed, .checked) { $0.limit = limit } }
    try expectRefused(.policy, .camouflaged) { $0.limit = 10 }
    try expectRefused(.policy, .camouflaged) { $0.policy = try PINPolicy(lengths: 4...8) }
    try expectRefused(.policy, .checked) { $0.access = try AccessControl(.applicationPassword) }
    _ = try rig.checked()
    try expectRefused(.duplicateItem, .checked) { _ in }
  }

  @Test("a credential has the accessibility and the device of its PIN")
  func access() throws {
    let rig = try PINRig()
    let uri = try rig.uri(PINRig.rawKey)
    for pin in [try rig.checked(), try rig.camouflaged()] {
      for access in [AccessControl(.afterFirstUnlock), AccessControl(thisDeviceOnly: true)] {
        expect(.policy) { () throws(VaultError) in
          _ = try rig.core.addOTP(uri, named: "other", access: access, pin: pin, context: rig.typing("8306"))
        }
      }
    }
  }

  @Test("a locked vault asks for its passcode before the PIN, and without it counts no attempt")
  func locked() throws {
    let rig = try PINRig(passcode: "correct horse")
    let pin = try rig.checked()
    let id = try rig.credential(behind: pin)
    rig.core.lock()
    expect(.locked) { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: id, context: rig.typing("8306"))
    }
    try expect(rig.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 10)
    let context = try rig.context("8306", passcode: "correct horse")
    try expect(rig.core.nextHOTPCode(of: id, context: context).code, equals: PINRig.rfc4226[0])
  }

  @Test(
    "a credential of the device needs no PIN, has a secret of its own, and is in no backup: its data key is the device PIN",
    .requirement("B1"))
  func devicePIN() throws {
    let rig = try PINRig()
    let user = try rig.credential(behind: rig.checked())
    let device = try rig.core.addOTP(
      rig.uri(PINRig.rawKey), named: "device", access: AccessControl(thisDeviceOnly: true)
    ).item.id
    let codes = [
      try rig.core.nextHOTPCode(of: device).code,
      try rig.core.nextHOTPCode(of: user, context: rig.context("8306")).code,
    ]
    expect(codes, equals: [try rig.code(at: 0), PINRig.rfc4226[0]])
    let report = try rig.core.backUp(
      to: rig.place.folder + "/backup", passphrase: Passcode(testing: "correct horse"))
    expect(report.leftOut.map(\.id), equals: [device])
  }
}

@Suite("PINs of copied vaults", .bounded)
struct CopiedPINTests {
  /// Verified to fail when a mark is settled without the passcode.
  @Test("a marked PIN asks for the passcode once", arguments: [PINMode.checked, .camouflaged])
  func passcode(mode: PINMode) throws {
    let rig = try PINRig(passcode: "correct horse")
    let (pin, id) = try rig.marked(mode)
    #expect(try rig.core.pinStatuses(of: pin).first?.isMarked == true)
    let before = try rig.counter(of: id)
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: id, context: rig.typing("8306"))
    }
    try expect(rig.counter(of: id), equals: before)
    let context = try rig.context("8306", passcode: "correct horse")
    try expect(rig.core.nextHOTPCode(of: id, context: context).notices, equals: [.pinWasMarked])
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).notices, equals: [])
  }

  @Test(
    "without a passcode the result says that the PIN was marked, once",
    arguments: [PINMode.checked, .camouflaged])
  func withoutPasscode(mode: PINMode) async throws {
    let rig = try PINRig()
    let (pin, id) = try rig.marked(mode)
    let credential = try await OTPCredential(id: id, in: Vault(core: rig.core))
    try await expect(credential.nextCode(context: rig.context("8306")).notices, equals: [.pinWasMarked])
    try await expect(credential.nextCode(context: rig.context("8306")).notices, equals: [])
    #expect(try rig.core.pinStatuses(of: pin).first?.isMarked == false)
  }
}

extension PINRig {
  /// A PIN item as a copied vault has it, with a credential.
  fileprivate func marked(_ mode: PINMode) throws -> (pin: ItemID, credential: ItemID) {
    let pin = mode == .checked ? try checked() : try camouflaged()
    let id = mode == .checked ? try credential(behind: pin) : try masked(behind: pin)
    try core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: pin) { $0.needsResync = true }
    }
    return (pin, id)
  }
}

/// A prompt with a channel, such as a file that an option names.
final class ChannelPrompt: Prompt {
  private let text: String

  init(_ text: String) { self.text = text }

  func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes? {
    SecretBytes(testing: text)
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    throw VaultError(.interactionNotAllowed, "nobody")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
}
