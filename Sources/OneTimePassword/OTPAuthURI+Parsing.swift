public import SecretMemory

extension OTPAuthURI {
  /// Reads a URI.
  ///
  /// Tolerated: any case of scheme, type, parameter names and algorithm; raw spaces and UTF-8; `+` for a space in
  /// parameters; empty parameters. At most ``maximumByteCount`` bytes.
  /// - Throws: ``OTPError``; nothing in it comes from the text but an offset or a bit count.
  public init(parsing text: borrowing SecretBytes) throws(OTPError) {
    self = try text.expose { (span) throws(OTPError) in try OTPAuthURI(parsing: span) }
  }

  /// Reads a URI; wiping the text is left to the caller.
  ///
  /// - Throws: As ``init(parsing:)-(SecretBytes)``.
  public init(parsing text: RawSpan) throws(OTPError) {
    let parts = try URIParts(text)
    var parameters = URIParameters()
    try parameters.read(text, query: parts.query)
    let label = try URILabel(text, range: parts.label)
    guard let encodedSecret = parameters.secret.take() else { throw .invalidURI(.missingSecret) }
    var hasTrailingBits = false
    let secret = try encodedSecret.expose { (span) throws(OTPError) in
      try Base32.decode(span, hasTrailingBits: &hasTrailingBits)
    }
    let type = try parameters.refined(parts.type, issuer: parameters.issuer ?? label.issuer)
    let kind = try parameters.kind(of: type)
    var warnings: [Warning] = []
    if hasTrailingBits { warnings.append(.trailingBits) }
    let ignored = parameters.ignoredCount(for: type)
    if ignored > 0 { warnings.append(.ignoredParameters(count: ignored)) }
    try self.init(
      kind: kind, labelIssuer: label.issuer, issuerParameter: parameters.issuer, account: label.account,
      secret: secret, algorithm: parameters.algorithm, digits: parameters.digits, warnings: warnings)
  }
}

private enum URIType { case hotp, totp, steam }

/// Where the parts of a URI lie.
private struct URIParts {
  let type: URIType
  let label: Range<Int>
  let query: Range<Int>

  init(_ text: RawSpan) throws(OTPError) {
    guard text.byteCount <= OTPAuthURI.maximumByteCount else { throw .invalidURI(.tooLong) }
    try Self.refuseForbiddenBytes(text)
    let scheme: StaticString = "otpauth://"
    let start = scheme.utf8CodeUnitCount
    guard text.byteCount >= start, ASCII.equalIgnoringCase(text.bytes(0..<start), to: scheme) else {
      throw .invalidURI(.notOTPAuth)
    }
    // Without a `?` everything after the type could be the secret: nothing of it is looked at.
    guard let question = text.firstIndex(of: UInt8(ascii: "?"), in: start..<text.byteCount) else {
      throw .invalidURI(.missingSecret)
    }
    guard let slash = text.firstIndex(of: UInt8(ascii: "/"), in: start..<question) else {
      throw .invalidURI(.missingLabel)
    }
    type = try Self.type(named: text.bytes(start..<slash))
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

  private static func type(named word: [UInt8]) throws(OTPError) -> URIType {
    if ASCII.equalIgnoringCase(word, to: "totp") { return .totp }
    if ASCII.equalIgnoringCase(word, to: "hotp") { return .hotp }
    if ASCII.equalIgnoringCase(word, to: "steam") { return .steam }
    throw .invalidURI(.unknownType)
  }
}

/// `issuer:account`, or an account alone.
private struct URILabel {
  let issuer: String?
  let account: String

  init(_ text: RawSpan, range: Range<Int>) throws(OTPError) {
    let bytes = try PercentCoding.bytes(of: text, range: range, plus: .isPlus)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      issuer = nil
      account = try NameRules.text(of: bytes)
      return
    }
    let name = try NameRules.text(of: Array(bytes[..<colon]))
    issuer = name.isEmpty ? nil : name
    account = try NameRules.text(of: Array(bytes[(colon + 1)...]))
  }
}

/// The parameters that mean something, each at most once.
private struct URIParameters: ~Copyable {
  var secret: SecretBytes?
  private(set) var issuer: String?
  private(set) var algorithm: OTPAlgorithm?
  private(set) var digits: Int?
  private var period: [UInt8]?
  private var counter: [UInt8]?
  private var isSteam = false
  private var seen: [String] = []
  private var unknownCount = 0

  init() {}

  mutating func read(_ text: RawSpan, query: Range<Int>) throws(OTPError) {
    var start = query.lowerBound
    while start < query.upperBound {
      let end = text.firstIndex(of: UInt8(ascii: "&"), in: start..<query.upperBound) ?? query.upperBound
      if start < end { try readOne(text, range: start..<end) }
      start = end + 1
    }
  }

  private mutating func readOne(_ text: RawSpan, range: Range<Int>) throws(OTPError) {
    let equals = text.firstIndex(of: UInt8(ascii: "="), in: range) ?? range.upperBound
    let value = min(equals + 1, range.upperBound)..<range.upperBound
    guard let name = Self.knownName(in: text, range: range.lowerBound..<equals) else {
      unknownCount += 1
      return
    }
    guard !seen.contains(name) else { throw .invalidURI(.duplicateParameter) }
    seen.append(name)
    if name == "secret" {
      secret = try PercentCoding.secret(of: text, range: value, plus: .isSpace)
    } else {
      try take(name, value: PercentCoding.bytes(of: text, range: value, plus: .isSpace))
    }
  }

  private mutating func take(_ name: String, value: [UInt8]) throws(OTPError) {
    switch name {
    case "issuer":
      let name = try NameRules.text(of: value)
      issuer = name.isEmpty ? nil : name
    case "algorithm": algorithm = try OTPAlgorithm(uriName: value)
    case "digits":
      guard value.count == 1, let number = ASCII.decimal(value) else { throw .invalidDigits }
      digits = Int(number)
    case "period": period = value
    case "counter": counter = value
    default:
      guard ASCII.equalIgnoringCase(value, to: "steam") else { throw .invalidURI(.unknownEncoder) }
      isSteam = true
    }
  }

  /// Steam codes are written as type `steam`, as `encoder=steam`, or as issuer Steam with no other length.
  func refined(_ type: URIType, issuer: String?) throws(OTPError) -> URIType {
    guard type == .totp else {
      if isSteam && type == .hotp { throw .invalidURI(.unknownEncoder) }
      return type
    }
    let isIssuedBySteam = issuer.map { ASCII.equalIgnoringCase(Array($0.utf8), to: "Steam") } ?? false
    return isSteam || isIssuedBySteam && digits ?? 5 == 5 ? .steam : .totp
  }

  func kind(of type: URIType) throws(OTPError) -> OTPAuthURI.Kind {
    switch type {
    case .hotp:
      guard let counter else { throw .invalidURI(.missingCounter) }
      guard let number = ASCII.decimal(counter) else { throw .invalidCounter }
      return .hotp(counter: number)
    case .totp:
      return .totp(periodSeconds: try periodSeconds())
    case .steam:
      guard try periodSeconds() == 30 else { throw .invalidPeriod }
      return .steam
    }
  }

  private func periodSeconds() throws(OTPError) -> Int64 {
    guard let period else { return 30 }
    guard let number = ASCII.decimal(period), let seconds = Int64(exactly: number), seconds >= 1 else {
      throw .invalidPeriod
    }
    return seconds
  }

  /// How many parameters were not used: unknown ones, a counter of time-based codes, a period of counted ones.
  func ignoredCount(for type: URIType) -> Int {
    let unused = type == .hotp ? period : counter
    return unknownCount + (unused == nil ? 0 : 1)
  }

  private static func knownName(in text: RawSpan, range: Range<Int>) -> String? {
    // Compared in place: what stands here can be a piece of a secret with a stray `&` in it.
    ["secret", "issuer", "algorithm", "digits", "period", "counter", "encoder"].first { name in
      name.utf8.elementsEqual(range, by: { $0 == text.byte(at: $1) | 0x20 })
    }
  }
}

extension RawSpan {
  /// A copy of bytes that are not secret.
  fileprivate func bytes(_ range: Range<Int>) -> [UInt8] {
    range.map { byte(at: $0) }
  }

  fileprivate func firstIndex(of wanted: UInt8, in range: Range<Int>) -> Int? {
    range.first { byte(at: $0) == wanted }
  }
}
