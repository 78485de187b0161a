import OneTimePassword
import SecretMemory
import VaultKit

/// The parameters of a credential with a suite, as the attributes of its item hold them.
struct OCRAItem {
  /// The value of ``Attribute/otpType`` for a credential with a suite.
  static let type: Int64 = 4

  let item: Item
  let suite: OCRASuite
  let role: OTPRole
  let window: UInt64

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind; `.policy` for a credential without a suite;
  ///   `.unsupported` for parameters this version does not know.
  init(_ item: Item) throws(VaultError) {
    guard item.kind == .otp else { throw .noCredential }
    guard !item.isActivation else { throw .activationIncomplete }
    let attributes = item.attributes
    guard attributes[.otpType] == Self.type else {
      throw VaultError(.policy, "the credential has no suite: it signs nothing", hint: .addSuite)
    }
    guard let role = attributes[.otpRole].flatMap(OTPRole.init),
      let suite = attributes[.ocraSuite].flatMap({ try? OCRASuite($0) }), suite.isUsable
    else {
      throw VaultError(.unsupported, "the credential has parameters that this version does not know")
    }
    self.item = item
    self.suite = suite
    self.role = role
    window = attributes[.otpWindow].flatMap { UInt64(exactly: $0) } ?? suite.usualWindow
  }

  func generator(_ key: borrowing SecretBytes) throws(VaultError) -> OCRAGenerator {
    try otp { () throws(OTPError) in try OCRAGenerator(key: key, suite: suite) }
  }

  func description(_ state: ItemState) -> OCRADescription {
    OCRADescription(item: item, suite: suite, role: role, window: window, state: state)
  }

  func refuse(unless wanted: OTPRole) throws(VaultError) {
    guard role != wanted else { return }
    throw wanted == .prover
      ? VaultError(.policy, "the credential is a verifier: it never prints codes", hint: .verifySignature)
      : VaultError(.policy, "the credential is a prover: it does not judge codes", hint: .signQuestion)
  }
}

extension OCRASuite {
  /// Whether the time of a code follows from the clock. RFC 6287 does not say what steps of 0 hours count.
  var isUsable: Bool { timeStepSeconds != 0 }

  fileprivate var usualWindow: UInt64 { hasCounter || timeStepSeconds == nil ? 10 : 1 }
}

extension NewOCRACredential {
  /// The item of the credential.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a suite, a window or a key with which no code could be made.
  func item(key: borrowing SecretBytes) throws(VaultError) -> NewItem {
    try limits.check(role)
    guard suite.isUsable else {
      throw VaultError(
        .malformed, "a suite with T0H has no time: steps of 0 hours count nothing",
        hint: "agree on a suite with T1S to T48H, or without T")
    }
    guard window ?? 0 <= OCRAVerifier.maximumWindow else { throw VaultError(otp: .invalidWindow) }
    guard key.byteCount >= (allowsWeak ? 1 : OTPAuthURI.minimumSecretByteCount) else {
      throw VaultError(otpParameters: .secretTooShort(bitCount: 8 * key.byteCount))
    }
    guard key.byteCount <= OTPAuthURI.maximumSecretByteCount else {
      throw VaultError(otpParameters: .secretTooLong)
    }
    var new = NewItem(.otp, name: name, attributes: attributes, access: access, audit: audit)
    new.joinsEntry = true
    new.attributes[.otpSecretBits] = OTPItem.secretBits(ifWeak: key)
    if suite.hasCounter { new.state.counter = counter }
    return new
  }

  var limits: OfflineLimits { OfflineLimits(codes: offlineCodes, seconds: offlineSeconds) }

  private var attributes: Attributes {
    var attributes = Attributes()
    attributes[.otpType] = OCRAItem.type
    attributes[.otpRole] = role.rawValue
    attributes[.ocraSuite] = suite.description
    if let window { attributes[.otpWindow] = Int64(clamping: window) }
    if let issuer, !issuer.isEmpty { attributes[.issuer] = issuer }
    if let account, !account.isEmpty { attributes[.account] = account }
    return attributes
  }
}
