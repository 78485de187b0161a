package import OneTimePassword
import SecretMemory
package import VaultKit

/// The parameters of a credential, as the attributes of its item hold them.
struct OTPItem {
  let item: Item
  let kind: OTPDescription.Kind
  let role: OTPRole
  let algorithm: OTPAlgorithm
  let format: OTPFormat
  let period: Int64
  let window: UInt64

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind; `.wrongState` for an activation that is not
  ///   complete; `.unsupported` for parameters this version does not know.
  init(_ item: Item) throws(VaultError) {
    guard item.kind == .otp else { throw .noCredential }
    guard !item.isActivation else { throw .activationIncomplete }
    let attributes = item.attributes
    guard !item.hasSuite else {
      throw VaultError(
        .policy, "the credential has a suite: its codes are for questions", hint: .signQuestion)
    }
    guard let kind = attributes[.otpType].flatMap(OTPDescription.Kind.init),
      let role = attributes[.otpRole].flatMap(OTPRole.init),
      let algorithm = attributes[.otpAlgorithm].flatMap(Self.algorithm),
      let digits = attributes[.otpDigits],
      let period = attributes[.otpPeriod] ?? (kind == .totp ? nil : 30),  // the others do not need one
      let format = Self.format(of: kind, digits: digits), period >= 1
    else {
      throw VaultError(.unsupported, "the credential has parameters that this version does not know")
    }
    self.item = item
    self.kind = kind
    self.role = role
    self.algorithm = algorithm
    self.format = format
    self.period = period
    window = attributes[.otpWindow].flatMap { UInt64(exactly: $0) } ?? (kind == .hotp ? 10 : 1)
  }

  /// The attributes of a new credential.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a window with which no code could be judged.
  static func attributes(
    of uri: borrowing OTPAuthURI, role: OTPRole, window: UInt64?
  ) throws(VaultError) -> Attributes {
    guard window ?? 0 <= greatestWindow(of: uri.kind) else { throw VaultError(otp: .invalidWindow) }
    var attributes = Attributes()
    switch uri.kind {
    case .hotp:
      attributes[.otpType] = OTPDescription.Kind.hotp.rawValue
      attributes[.otpPeriod] = 30
    case .totp(let period):
      attributes[.otpType] = OTPDescription.Kind.totp.rawValue
      attributes[.otpPeriod] = period
    case .steam:
      attributes[.otpType] = OTPDescription.Kind.steam.rawValue
      attributes[.otpPeriod] = 30
    }
    attributes[.otpRole] = role.rawValue
    attributes[.otpAlgorithm] = [.sha1: 1, .sha256: 2, .sha512: 3][uri.algorithm]!
    attributes[.otpDigits] = Int64(uri.format.length)
    attributes[.otpSecretBits] = secretBits(ifWeak: uri.secret)
    if let window { attributes[.otpWindow] = Int64(clamping: window) }
    if let issuer = uri.issuer, !issuer.isEmpty { attributes[.issuer] = issuer }
    if !uri.account.isEmpty { attributes[.account] = uri.account }
    return attributes
  }

  /// The bits of a secret that is shorter than it should be; `nil` for any other.
  static func secretBits(ifWeak secret: borrowing SecretBytes) -> Int64? {
    secret.byteCount < OTPAuthURI.minimumSecretByteCount ? Int64(8 * secret.byteCount) : nil
  }

  private static func greatestWindow(of kind: OTPAuthURI.Kind) -> UInt64 {
    if case .hotp = kind { return HOTPVerifier.maximumWindow }
    return TOTPVerifier.maximumWindow
  }

  func description(_ state: ItemState) -> OTPDescription {
    OTPDescription(
      item: item, kind: kind, role: role, algorithm: algorithm.rawValue, digits: format.length,
      period: kind == .hotp ? nil : period, window: window, state: state)
  }

  func hotp(_ key: borrowing SecretBytes) throws(VaultError) -> HOTPGenerator {
    try otp { () throws(OTPError) in try HOTPGenerator(key: key, algorithm: algorithm, format: format) }
  }

  func totp(_ key: borrowing SecretBytes) throws(VaultError) -> TOTPGenerator {
    try otp { () throws(OTPError) in
      try TOTPGenerator(
        key: key, algorithm: algorithm, format: format, steps: TimeSteps(periodSeconds: period))
    }
  }

  /// The URI, for export.
  func uri(key: consuming SecretBytes, state: ItemState) throws(VaultError) -> OTPAuthURI {
    let uriKind: OTPAuthURI.Kind =
      switch kind {
      case .hotp: .hotp(counter: state.counter)
      case .totp: .totp(periodSeconds: period)
      case .steam: .steam
      }
    let attributes = item.attributes
    let account = attributes[.account] ?? item.name ?? ""
    do throws(OTPError) {
      return try OTPAuthURI(
        kind: uriKind, issuer: attributes[.issuer], account: account, secret: key, algorithm: algorithm,
        digits: format.length, allowingWeak: true)
    } catch { throw VaultError(otp: error) }
  }

  fileprivate static func algorithm(_ number: Int64) -> OTPAlgorithm? {
    switch number {
    case 1: .sha1
    case 2: .sha256
    case 3: .sha512
    default: nil
    }
  }

  private static func format(of kind: OTPDescription.Kind, digits: Int64) -> OTPFormat? {
    if kind == .steam { return digits == 5 ? .steam : nil }
    return try? OTPFormat.decimal(Int(clamping: digits), allowingWeak: true)
  }
}

/// Runs a call of the module OneTimePassword, and turns its error.
func otp<R: ~Copyable>(_ body: () throws(OTPError) -> R) throws(VaultError) -> R {
  do throws(OTPError) { return try body() } catch { throw VaultError(otp: error) }
}

extension VaultError {
  /// An error of the module OneTimePassword about a URI, a code or a credential, with what to do next.
  package init(otp error: OTPError) {
    let (code, hint): (Code, Hint?) =
      switch error.code {
      case .emptyKey, .invalidBase32: (.malformed, "copy the whole URI again")
      case .secretTooShort, .invalidDigits:
        (.malformed, .allowWeak)
      case .unknownAlgorithm:
        (
          .malformed,
          "keep the credential in another program: this program makes codes with SHA1, SHA256 and SHA512 only"
        )
      case .counterExhausted: (.expired, "enroll a new credential")
      case .invalidURI: (.malformed, Self.hint(for: error.fault))
      case .invalidSuite: (.malformed, "it looks like OCRA-1:HOTP-SHA256-8:QH64")
      case .missingInput: (.malformed, "give exactly the values that the suite names")
      case .unexpectedInput: (.malformed, "leave it out: the code would not depend on it")
      case .invalidData: (.policy, "sign text that the suite takes as it is, or use a suite with QH64")
      default: (.malformed, nil)
      }
    self.init(code, error.message, hint: hint)
  }

  private static func hint(for fault: OTPError.URIFault?) -> Hint {
    if case .unknownParameter = fault {
      return "if the service says that it does not change the codes, remove it from the URI"
    }
    return "it looks like otpauth://totp/NAME?secret=..."
  }

  /// An error of the module OneTimePassword about parameters that a program gave one by one: there is no URI to copy.
  package init(otpParameters error: OTPError) {
    switch error.code {
    case .emptyKey, .secretTooLong:
      self.init(.malformed, error.message, hint: "give a key of 10 to 512 bytes; 20 are recommended")
    case .secretTooShort:
      self.init(
        .malformed, error.message,
        hint: Hint("give a key of 10 to 512 bytes; 20 are recommended", tool: Hint.allowWeak.toolSentence))
    case .invalidURI:
      let fault = error.fault.map { ": \($0)" } ?? ""
      self.init(.malformed, "the issuer or the account cannot be part of a URI\(fault)")
    default: self.init(otp: error)
    }
  }
}

extension Item {
  /// The algorithm of the codes of a credential, with a suite or without; `nil` for one that this version does not know.
  package var codeAlgorithm: OTPAlgorithm? {
    if let suite = attributes[.ocraSuite] { return (try? OCRASuite(suite))?.algorithm }
    return attributes[.otpAlgorithm].flatMap(OTPItem.algorithm)
  }
}
