public import SecretMemory

/// A credential as services print it into QR codes: `otpauth://TYPE/LABEL?secret=…` (Key URI Format).
///
/// The text holds the secret, so it is read from and written to ``SecretBytes``. What the format leaves open is
/// refused, never guessed: an unknown parameter, type, algorithm, encoder or number of digits, a `hotp` URI without
/// counter, a repeated parameter. What is only unwise is accepted and named in ``warnings``.
public struct OTPAuthURI: ~Copyable, Sendable {
  /// The longest text that is read. Texts that this module writes are shorter.
  public static let maximumByteCount = 4096
  /// The longest issuer or account, in bytes of UTF-8.
  public static let maximumNameByteCount = 255
  /// The shortest secret that is not weak: 80 bits, which many services still print. RFC 4226 R6 asks for 128.
  public static let minimumSecretByteCount = 10
  /// The longest secret.
  public static let maximumSecretByteCount = 512

  /// What makes one code differ from the next.
  @nonexhaustive
  public enum Kind: Sendable, Hashable {
    /// A counter; the next code is made from `counter`.
    case hotp(counter: UInt64)
    /// The time, in steps of `periodSeconds`.
    case totp(periodSeconds: Int64)
    /// Steam's five characters every 30 seconds.
    case steam
  }

  /// Something unwise in a URI that was accepted.
  @nonexhaustive
  public enum Warning: Sendable, Hashable {
    /// The secret has fewer than the 128 bits that RFC 4226 asks for.
    case shortSecret(bitCount: Int)
    /// The Base32 text ends in bits that belong to no byte and are not zero.
    case trailingBits
    /// The label names another issuer than the `issuer` parameter. The parameter counts.
    case issuerMismatch
    /// The label names no account.
    case emptyAccount
    /// The secret has fewer than 80 bits. It was accepted because the caller allows weak credentials.
    case weakSecret(bitCount: Int)
    /// The codes have fewer than 6 digits. They were accepted because the caller allows weak credentials.
    case fewDigits(Int)
    /// The names of parameters that do not change a code and are not kept: those that other programs write for their
    /// own display, a period of a counter, a counter of a period.
    case ignoredParameters([String])
    /// The names of parameters without a value. Each has its default.
    case emptyParameters([String])
  }

  /// What makes one code differ from the next.
  public let kind: Kind
  /// The issuer that the label begins with. Where it is another one than ``issuer``, it is not written.
  public let labelIssuer: String?
  /// The issuer: the parameter, else the one of the label.
  public let issuer: String?
  /// The account, without the issuer.
  public let account: String
  /// The shared secret, decoded.
  public let secret: SecretBytes
  /// The hash under the HMAC.
  public let algorithm: OTPAlgorithm
  /// The format of the codes.
  public let format: OTPFormat
  /// What is unwise about this credential.
  public let warnings: [Warning]

  /// The URI of a credential.
  ///
  /// - Parameters:
  ///   - kind: What makes one code differ from the next.
  ///   - issuer: Who accepts the codes; `nil` or empty for none.
  ///   - account: The name of the user there.
  ///   - secret: The shared secret, ``minimumSecretByteCount`` to ``maximumSecretByteCount`` bytes.
  ///   - algorithm: SHA-1 when `nil`; the only one for Steam codes.
  ///   - digits: 6 when `nil`, else 6, 7 or 8; Steam codes have 5.
  ///   - allowsWeak: Whether a secret of 1 byte or more, and codes of 4 and 5 digits, are accepted as well: for a
  ///     person whose server chose them.
  /// - Throws: ``OTPError/Code/invalidURI`` for a name, ``OTPError/Code/emptyKey``,
  ///   ``OTPError/Code/secretTooShort``, ``OTPError/Code/secretTooLong``, ``OTPError/Code/invalidPeriod``,
  ///   ``OTPError/Code/invalidDigits``, ``OTPError/Code/unknownAlgorithm``.
  public init(
    kind: Kind, issuer: String? = nil, account: String, secret: consuming SecretBytes,
    algorithm: OTPAlgorithm? = nil, digits: Int? = nil, allowingWeak allowsWeak: Bool = false
  ) throws(OTPError) {
    let issuer = try issuer.map { (text) throws(OTPError) in try NameRules.checked(text) }
    let account = try NameRules.checked(account)
    let labelIssuer = issuer.flatMap { $0.isEmpty ? nil : $0 }
    try self.init(
      kind: kind, labelIssuer: labelIssuer, issuerParameter: issuer, account: account, secret: secret,
      algorithm: algorithm, digits: digits, allowingWeak: allowsWeak, warnings: [])
  }

  init(
    kind: Kind, labelIssuer: String?, issuerParameter: String?, account: String,
    secret: consuming SecretBytes,
    algorithm: OTPAlgorithm?, digits: Int?, allowingWeak allowsWeak: Bool, warnings found: [Warning]
  ) throws(OTPError) {
    let format = try Self.format(for: kind, algorithm: algorithm, digits: digits, allowingWeak: allowsWeak)
    try Self.check(secretByteCount: secret.byteCount, allowingWeak: allowsWeak)
    let issuer = issuerParameter.flatMap { $0.isEmpty ? nil : $0 } ?? labelIssuer
    var warnings = found
    switch secret.byteCount {
    case ..<Self.minimumSecretByteCount: warnings.append(.weakSecret(bitCount: secret.byteCount * 8))
    case ..<16: warnings.append(.shortSecret(bitCount: secret.byteCount * 8))
    default: break
    }
    if format.isWeak { warnings.append(.fewDigits(format.length)) }
    if let labelIssuer, labelIssuer != issuer { warnings.append(.issuerMismatch) }
    if account.isEmpty { warnings.append(.emptyAccount) }
    self.kind = kind
    self.labelIssuer = labelIssuer
    self.issuer = issuer
    self.account = account
    self.secret = secret
    self.algorithm = algorithm ?? .sha1
    self.format = format
    self.warnings = warnings
  }

  /// The label as people see it, `issuer:account`.
  public var label: String { labelIssuer.map { "\($0):\(account)" } ?? account }

  /// The counter of a `hotp` URI.
  public var counter: UInt64? {
    if case .hotp(let counter) = kind { counter } else { nil }
  }

  /// The steps of time of any other.
  public var steps: TimeSteps? {
    switch kind {
    case .hotp: nil
    case .totp(let periodSeconds): try? TimeSteps(periodSeconds: periodSeconds)
    case .steam: try? TimeSteps()
    }
  }

  private static func format(
    for kind: Kind, algorithm: OTPAlgorithm?, digits: Int?, allowingWeak allowsWeak: Bool
  ) throws(OTPError) -> OTPFormat {
    switch kind {
    case .steam:
      guard algorithm ?? .sha1 == .sha1 else { throw .unknownAlgorithm }
      guard digits ?? 5 == 5 else { throw .invalidDigits }
      return .steam
    case .totp(let periodSeconds):
      guard periodSeconds >= 1 else { throw .invalidPeriod }
      return try .decimal(digits ?? 6, allowingWeak: allowsWeak)
    case .hotp:
      return try .decimal(digits ?? 6, allowingWeak: allowsWeak)
    }
  }

  private static func check(secretByteCount count: Int, allowingWeak allowsWeak: Bool) throws(OTPError) {
    if count == 0 { throw .emptyKey }
    if count < minimumSecretByteCount, !allowsWeak { throw .secretTooShort(bitCount: count * 8) }
    if count > maximumSecretByteCount { throw .secretTooLong }
  }
}
