import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with the passcode `passcode`, the phrase `right` as a member, the PIN 8306, and two credentials:
/// `bank` behind the PIN, `open` without one. Both have the key of RFC 4226.
struct BiokeyScene {
  static let codes = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]
  static let pinDigits = "8306"

  let place = TemporaryVault()
  let core: VaultCore
  let pin: ItemID
  let bank: ItemID
  let open: ItemID

  init(mode: PINMode = .checked) throws {
    core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "passcode"))
    pin = try core.makePIN(NewPINItem(mode), context: Self.given(new: Self.pinDigits)).id
    bank = try Self.enroll("bank", behind: pin, in: core)
    open = try Self.enroll("open", behind: nil, in: core)
  }

  /// A context that was given secrets and asks nobody.
  static func given(
    pin: String? = nil, new: String? = nil, phrase: String? = nil
  ) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "")
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
    if let phrase { context.provide(try BiometricPhrase(testing: phrase)) }
    return context
  }

  @discardableResult
  func register(_ new: NewBiokey = NewBiokey()) throws -> RegisteredBiokey {
    try core.registerBiokey(new, for: pin, context: Self.given(pin: Self.pinDigits))
  }

  func code(
    by factors: PINFactors = [.current, .biometric], of id: ItemID? = nil, _ context: AuthenticationContext
  ) throws -> String {
    try core.nextHOTPCode(of: id ?? bank, by: factors, context: context).code
  }

  /// The code of the error of a code that cannot be had; `nil` if there is one.
  func refusal(
    by factors: PINFactors = [.current, .biometric], of id: ItemID? = nil, _ context: AuthenticationContext
  ) -> VaultError.Code? {
    thrown { () throws(VaultError) in
      _ = try core.nextHOTPCode(of: id ?? bank, by: factors, context: context)
    }?.code
  }

  /// How many more wrong PINs are judged.
  func pinAttemptsLeft() throws -> Int? { try core.pinStatuses(of: pin).first?.attemptsLeft }

  private static func enroll(_ name: String, behind pin: ItemID?, in core: VaultCore) throws -> ItemID {
    let text = SecretBytes(testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    return try core.addOTP(
      OTPAuthURI(parsing: text), named: name, pin: pin, context: given(pin: pinDigits)
    ).item.id
  }
}
