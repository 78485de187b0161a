import SecretMemory

/// The parameters of a URI, each at most once.
///
/// A name that is not known here refuses the URI: it can be a misspelled `digits`, or one of another program with which
/// its codes are others. ``harmless`` are names that only say what other programs show.
struct URIParameters: ~Copyable {
  var secret: SecretBytes?
  private(set) var issuer: String?
  private(set) var algorithm: OTPAlgorithm?
  private(set) var digits: Int?
  private var period: [UInt8]?
  private var counter: [UInt8]?
  private var isSteam = false
  private var seen: Set<String> = []
  private var empty: [String] = []
  private var ignored: [String] = []

  private static let known = ["secret", "issuer", "algorithm", "digits", "period", "counter", "encoder"]
  /// Parameters that do not change a code: pictures, colors and other names for the display (`image`, `icon`, `issuerIcon`,
  /// `logo`, `color`, `issuerAlt`, `labelAlt`, `codeDisplay`, `tags`), numbers of the program that wrote the URI (`id`,
  /// `serial`, `creator`), and the wish that a program asks its user before it shows a code (`lock`).
  private static let harmless = [
    "codeDisplay", "color", "creator", "icon", "id", "image", "issuerAlt", "issuerIcon", "labelAlt", "lock",
    "logo", "serial", "tags",
  ]

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
    // In secret memory, because this can be a piece of a secret with a stray `&` in it.
    let written = try PercentCoding.secret(of: text, range: range.lowerBound..<equals, plus: .isSpace)
    if written.byteCount == 0, value.isEmpty { return }
    guard let name = Self.name(written, among: Self.known) else {
      guard let name = Self.name(written, among: Self.harmless) else {
        let shown = Self.shown(written, isBeforeValue: text.hasValue(in: value))
        throw .invalidURI(.unknownParameter(name: shown, byteCount: written.byteCount))
      }
      if !ignored.contains(name) { ignored.append(name) }
      return
    }
    guard seen.insert(name).inserted else { throw .invalidURI(.duplicateParameter) }
    if name == "secret" {
      secret = try PercentCoding.secret(of: text, range: value, plus: .isSpace)
    } else {
      try take(name, value: PercentCoding.bytes(of: text, range: value, plus: .isSpace))
    }
  }

  private mutating func take(_ name: String, value: [UInt8]) throws(OTPError) {
    guard !value.isEmpty else {
      // No issuer is usual, and no default takes its place.
      if name != "issuer" { empty.append(name) }
      return
    }
    switch name {
    case "issuer":
      let name = try NameRules.text(of: value)
      issuer = name.isEmpty ? nil : name
    case "algorithm": algorithm = try OTPAlgorithm(uriName: value)
    case "digits":
      guard let number = ASCII.decimal(value) else { throw .invalidDigits }
      digits = Int(clamping: number)
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

  /// What was not used. Several programs write a counter of time-based codes, and a period of counted ones.
  func warnings(for type: URIType) -> [OTPAuthURI.Warning] {
    let (unused, isGiven) = type == .hotp ? ("period", period != nil) : ("counter", counter != nil)
    let ignored = self.ignored + (isGiven ? [unused] : [])
    let empty = self.empty.filter { $0 != unused }
    return (ignored.isEmpty ? [] : [.ignoredParameters(ignored)])
      + (empty.isEmpty ? [] : [.emptyParameters(empty)])
  }

  private static func name(_ written: borrowing SecretBytes, among names: [String]) -> String? {
    written.expose { span in
      names.first { $0.utf8.count == span.byteCount && span.isEqualIgnoringCase(to: $0, at: 0) }
    }
  }

  /// The name of an unknown parameter, unless it can be a part of a secret: Base32 has upper-case letters and digits, in
  /// the hands of some programs lower-case ones, and at its end `=`.
  private static func shown(_ written: borrowing SecretBytes, isBeforeValue: Bool) -> String? {
    written.expose { span in
      guard isBeforeValue, span.byteCount <= 32 else { return nil }
      var hasLowercase = false
      for offset in 0..<span.byteCount {
        switch span.byte(at: offset) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): hasLowercase = true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          continue
        default: return nil
        }
      }
      guard hasLowercase else { return nil }
      return String((0..<span.byteCount).map { Character(Unicode.Scalar(span.byte(at: $0))) })
    }
  }
}

extension RawSpan {
  /// Whether there is more than the padding of Base32.
  fileprivate func hasValue(in range: Range<Int>) -> Bool {
    range.contains { byte(at: $0) != UInt8(ascii: "=") }
  }
}
