import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Testing
import VaultKit
import VaultTestKit

/// What a person does with a checked PIN: each call of the library that judges one.
enum PINUse: CaseIterable, CustomTestStringConvertible {
  case code, timedCode, export, counterBack, enrollment, verification, change, login, signature, verifying
  case registration, reset

  var testDescription: String { "\(self)" }

  /// A vault with the PIN 8306, its limit 10, and credentials behind it.
  struct Scene {
    let rig: PINRig
    let pin: ItemID
    let counted: ItemID
    let timed: ItemID
    let suite: ItemID
    let verifier: ItemID

    /// - Parameter passcode: With one, the phrase `right` is a member.
    init(passcode: String? = nil) throws {
      let rig = try PINRig(passcode: passcode)
      if let passcode {
        _ = try rig.core.enroll(
          BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: passcode))
      }
      let pin = try rig.checked()
      let context = try rig.context("8306")
      func add(_ name: String, _ role: OTPRole, _ kind: OTPAuthURI.Kind) throws -> ItemID {
        try rig.core.addOTP(
          rig.uri(PINRig.rawKey, kind: kind), named: name, role: role, pin: pin, context: context
        ).item.id
      }
      (self.rig, self.pin) = (rig, pin)
      counted = try rig.credential(behind: pin)
      timed = try add("timed", .prover, .totp(periodSeconds: 30))
      verifier = try add("server", .verifier, .hotp(counter: 0))
      let new = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08"), name: "suite")
      suite = try rig.core.addOCRA(
        new, key: SecretBytes(copying: PINRig.rawKey), pin: pin, context: context
      ).item.id
    }

    /// Attempts that are left, without and with those that have no verdict.
    func left() throws -> [Int] {
      let state = try rig.core.state(of: pin)
      return [
        try rig.core.pinStatuses(of: pin).first?.attemptsLeft ?? -1, 10 - Int(state.failures),
      ]
    }
  }

  /// The uses of a credential.
  static let ofCredentials: [PINUse] = [.code, .timedCode, .export, .counterBack, .signature, .verifying]

  /// The credential of such a use.
  func credential(of scene: Scene) -> ItemID {
    switch self {
    case .timedCode: scene.timed
    case .signature: scene.suite
    case .verifying: scene.verifier
    default: scene.counted
    }
  }

  /// Whether it needs a member.
  var needsPasscode: Bool { self == .registration || self == .reset }

  /// - Parameter context: Has the PIN, and the new one.
  func run(_ scene: Scene, _ context: AuthenticationContext) throws {
    let core = scene.rig.core
    switch self {
    case .code: _ = try core.nextHOTPCode(of: scene.counted, context: context)
    case .timedCode: _ = try core.timedCode(of: scene.timed, context: context)
    case .export: _ = try core.exportOTP(of: scene.counted, context: context)
    case .counterBack:
      // Forward needs no PIN.
      try core.setCounter(of: scene.counted, to: 9)
      try core.setCounter(of: scene.counted, to: 0, force: true, context: context)
    case .enrollment:
      let name = "new \(try core.items(matching: Query(.otp)).count)"
      _ = try core.addOTP(scene.rig.uri(PINRig.rawKey), named: name, pin: scene.pin, context: context)
    case .verification: _ = try core.verifyPIN(scene.pin, context: context)
    case .change: try core.changePIN(scene.pin, keepingBiokeys: true, context: context)
    case .login: _ = try core.logIn(scene.pin, by: .pin, context: context)
    case .signature:
      let question = try OCRAQuestion(
        data: Array("12345678".utf8).span, for: OCRASuite("OCRA-1:HOTP-SHA1-6:QN08"))
      _ = try core.signOCRA(OCRARequest(question), with: scene.suite, context: context)
    case .verifying:
      let counter = try scene.rig.counter(of: scene.verifier)
      let code = try HOTPGenerator(key: SecretBytes(copying: PINRig.rawKey)).code(at: counter)
      _ = try core.verifyOTP(of: scene.verifier, code: code, context: context)
    case .registration: _ = try core.registerBiokey(NewBiokey(), for: scene.pin, context: context)
    case .reset: _ = try core.resetBiokeys(of: scene.pin, context: context)
    }
  }
}
