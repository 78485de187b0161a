public import SecretMemory

extension OTPAuthURI {
  /// Reads a URI.
  ///
  /// Tolerated: any case of scheme, type, parameter names and algorithm; raw spaces and UTF-8; `+` for a space in
  /// parameters; empty parameters; blanks and ends of lines around it; `&amp;` or `&#38;`, as HTML has it, for `&`. At
  /// most ``maximumByteCount`` bytes. A parameter without a value counts as absent.
  /// - Parameters:
  ///   - text: The URI.
  ///   - allowsWeak: Whether a secret of fewer than 80 bits, and codes of 4 and 5 digits, are accepted: for a person whose
  ///     server chose them.
  /// - Throws: ``OTPError``; nothing in it comes from the text but an offset, a bit count, and the name of an unknown
  ///   parameter where this cannot be a part of the secret.
  public init(
    parsing text: borrowing SecretBytes, allowingWeak allowsWeak: Bool = false
  ) throws(OTPError) {
    self = try text.expose { (span) throws(OTPError) in
      try OTPAuthURI(parsing: span, allowingWeak: allowsWeak)
    }
  }

  /// Reads a URI. The caller wipes the text.
  ///
  /// - Throws: As the same with a text in ``SecretBytes``.
  public init(parsing text: RawSpan, allowingWeak allowsWeak: Bool = false) throws(OTPError) {
    guard text.byteCount <= OTPAuthURI.maximumByteCount else { throw .invalidURI(.tooLong) }
    self = try URIText.plain(text).expose { (span) throws(OTPError) in
      try OTPAuthURI(plain: span, allowingWeak: allowsWeak)
    }
  }

  private init(plain text: RawSpan, allowingWeak allowsWeak: Bool) throws(OTPError) {
    let parts = try URIParts(text)
    var parameters = URIParameters()
    try parameters.read(text, query: parts.query)
    let label = try URILabel(text, range: parts.label, issuer: parameters.issuer)
    guard let encodedSecret = parameters.secret.take() else { throw .invalidURI(.missingSecret) }
    var hasTrailingBits = false
    let secret = try encodedSecret.expose { (span) throws(OTPError) in
      try Base32.decode(span, hasTrailingBits: &hasTrailingBits)
    }
    let type = try parameters.refined(parts.type, issuer: parameters.issuer ?? label.issuer)
    let kind = try parameters.kind(of: type)
    try self.init(
      kind: kind, labelIssuer: label.issuer, issuerParameter: parameters.issuer, account: label.account,
      secret: secret, algorithm: parameters.algorithm, digits: parameters.digits, allowingWeak: allowsWeak,
      warnings: (hasTrailingBits ? [.trailingBits] : []) + parameters.warnings(for: type))
  }
}

enum URIType { case hotp, totp, steam }

/// What a URI meets on its way through pages, mails and files.
private enum URIText {
  /// The URI without blanks and ends of lines around it, and with a plain `&` where HTML has `&amp;`.
  static func plain(_ text: RawSpan) -> SecretBytes {
    var range = 0..<text.byteCount
    while let first = range.first, isBlank(text.byte(at: first)) { range.removeFirst() }
    while let last = range.last, isBlank(text.byte(at: last)) { range.removeLast() }
    return SecretBytes(capacity: range.count) { output in
      var offset = range.lowerBound
      while offset < range.upperBound {
        let byte = text.byte(at: offset)
        output.append(byte)
        offset += 1
        // A text that was escaped twice has `&amp;amp;`.
        while byte == UInt8(ascii: "&"), let count = escapeCount(text, at: offset, end: range.upperBound) {
          offset += count
        }
      }
    }
  }

  /// How many bytes the rest of an escaped `&` has; `nil` where this is none.
  private static func escapeCount(_ text: RawSpan, at start: Int, end: Int) -> Int? {
    escapes.first { escape in
      start + escape.utf8.count <= end && text.isEqualIgnoringCase(to: escape, at: start)
    }?.utf8.count
  }

  private static let escapes = ["amp;", "#38;", "#038;", "#x26;"]

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
  }
}

/// The positions of the parts of a URI.
private struct URIParts {
  let type: URIType
  let label: Range<Int>
  let query: Range<Int>

  init(_ text: RawSpan) throws(OTPError) {
    try Self.refuseForbiddenBytes(text)
    let scheme = "otpauth://"
    let start = scheme.utf8.count
    guard text.byteCount >= start, text.isEqualIgnoringCase(to: scheme, at: 0) else {
      throw .invalidURI(.notOTPAuth)
    }
    // Without a `?`, everything after the type could be the secret, so it is not looked at.
    guard let question = text.firstIndex(of: UInt8(ascii: "?"), in: start..<text.byteCount) else {
      throw .invalidURI(.missingSecret)
    }
    guard let slash = text.firstIndex(of: UInt8(ascii: "/"), in: start..<question) else {
      throw .invalidURI(.missingLabel)
    }
    type = try Self.type(named: text, start..<slash)
    label = slash + 1..<question
    query = question + 1..<text.byteCount
  }

  private static func refuseForbiddenBytes(_ text: RawSpan) throws(OTPError) {
    for offset in 0..<text.byteCount {
      switch text.byte(at: offset) {
      case 0x00...0x1F, 0x7F: throw .invalidURI(.controlCharacter)
      case UInt8(ascii: "#"): throw .invalidURI(.fragment)
      default: continue
      }
    }
  }

  private static func type(named text: RawSpan, _ range: Range<Int>) throws(OTPError) -> URIType {
    for (word, type) in [("totp", URIType.totp), ("hotp", .hotp), ("steam", .steam)]
    where word.utf8.count == range.count && text.isEqualIgnoringCase(to: word, at: range.lowerBound) {
      return type
    }
    throw .invalidURI(.unknownType)
  }
}

/// `issuer:account`, or an account alone.
///
/// The format forbids a colon in both, and services have one in both. So the issuer of the parameter says where the label
/// is split, if it begins with it. Otherwise a plain colon counts more than `%3A`, which can be part of a name.
private struct URILabel {
  let issuer: String?
  let account: String

  init(_ text: RawSpan, range: Range<Int>, issuer named: String?) throws(OTPError) {
    let bytes = try PercentCoding.bytes(of: text, range: range, plus: .isPlus)
    if let named, let rest = Self.rest(of: bytes, after: named) {
      (issuer, account) = (named, try NameRules.text(of: rest))
      return
    }
    // The issuer alone names no other account, whatever colons it has.
    guard !bytes.elementsEqual((named ?? "").utf8) else {
      (issuer, account) = (nil, try NameRules.text(of: bytes))
      return
    }
    let colon = UInt8(ascii: ":")
    var parts = (issuer: [UInt8](), account: bytes)
    if let plain = text.firstIndex(of: colon, in: range) {
      parts.issuer = try PercentCoding.bytes(of: text, range: range.lowerBound..<plain, plus: .isPlus)
      parts.account = try PercentCoding.bytes(of: text, range: plain + 1..<range.upperBound, plus: .isPlus)
    } else if let encoded = bytes.firstIndex(of: colon) {
      parts = (Array(bytes[..<encoded]), Array(bytes[(encoded + 1)...]))
    }
    let name = try NameRules.text(of: parts.issuer)
    issuer = name.isEmpty ? nil : name
    account = try NameRules.text(of: parts.account)
  }

  /// What follows an issuer and a colon.
  private static func rest(of label: [UInt8], after issuer: String) -> [UInt8]? {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
    let label = label.drop(while: isSpace)
    guard label.starts(with: issuer.utf8) else { return nil }
    let rest = label.dropFirst(issuer.utf8.count).drop(while: isSpace)
    return rest.first == UInt8(ascii: ":") ? Array(rest.dropFirst()) : nil
  }
}
