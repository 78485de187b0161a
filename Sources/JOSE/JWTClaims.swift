package import SecretMemory
package import TextFormats

/// The registered claims of a token (RFC 7519 §4.1), read from its payload. Whether they are true, the signature says.
package struct JWTClaims: Sendable {
  package private(set) var issuer: String?
  package private(set) var subject: String?
  /// One or several; empty if the token names none.
  package private(set) var audience: [String] = []
  /// Seconds since 1970, and so are the next two.
  package private(set) var expiry: UInt64?
  package private(set) var notBefore: UInt64?
  package private(set) var issued: UInt64?
  package private(set) var id: String?

  /// - Parameters:
  ///   - payload: An object of JSON.
  ///   - what: The payload, in the words of an error.
  ///   - other: Reads a claim that is not registered, or returns false.
  /// - Throws: ``JOSEError/malformed(_:)``; ``JOSEError/wrongType(_:)`` for a name that is no text, and for a time that is no
  ///   whole number of seconds from 0 to 2^53.
  package init(
    _ payload: borrowing SecretBytes, as what: String = "the payload",
    other: (String, JSONReader) throws(TextError) -> Bool = { (_, _) throws(TextError) in false }
  ) throws(JOSEError) {
    var claims = Reading()
    try JSONObject.read(payload.copy(), as: what) { (name, reader) throws(TextError) in
      let isRead = try claims.read(name, reader)
      return isRead ? true : try other(name, reader)
    }
    if let wrong = claims.wrong { throw .wrongType(wrong) }
    (issuer, subject, id) = (claims.texts["iss"], claims.texts["sub"], claims.texts["jti"])
    audience = claims.audience
    (expiry, notBefore, issued) = (claims.times["exp"], claims.times["nbf"], claims.times["iat"])
  }

  /// Checks `exp` and `nbf`.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - leeway: By how many seconds the clock of the maker may be ahead. It does not prolong `exp`.
  /// - Throws: ``JOSEError/missing(_:)`` without `exp`; ``JOSEError/expired``, ``JOSEError/notYetValid``.
  package func checkTimes(at now: Int64, leeway: Int64 = 60) throws(JOSEError) {
    guard let expiry else { throw .missing("exp") }
    guard now < Int64(expiry) else { throw .expired }
    if let notBefore { guard Int64(notBefore) <= now + leeway else { throw .notYetValid } }
  }

  /// Checks who made the token.
  ///
  /// - Throws: ``JOSEError/missing(_:)``, ``JOSEError/wrongValue(_:)``.
  package func checkIssuer(_ expected: String) throws(JOSEError) {
    guard let issuer else { throw .missing("iss") }
    guard issuer.isSame(as: expected) else { throw .wrongValue("iss") }
  }

  /// Checks for whom the token is. One of several is enough, unless `only` is true.
  ///
  /// - Throws: ``JOSEError/missing(_:)``, ``JOSEError/wrongValue(_:)``.
  package func checkAudience(_ expected: String, only: Bool = false) throws(JOSEError) {
    guard !audience.isEmpty else { throw .missing("aud") }
    guard audience.contains(where: { $0.isSame(as: expected) }), !only || audience.count == 1 else {
      throw .wrongValue("aud")
    }
  }

  /// Checks which token it is.
  ///
  /// - Throws: ``JOSEError/missing(_:)``, ``JOSEError/wrongValue(_:)``.
  package func checkID(_ expected: String) throws(JOSEError) {
    guard let id else { throw .missing("jti") }
    guard id.isSame(as: expected) else { throw .wrongValue("jti") }
  }

  private struct Reading {
    var texts: [String: String] = [:]
    var times: [String: UInt64] = [:]
    var audience: [String] = []
    /// The first claim of a wrong type: thrown at the end, when the whole text is known to be JSON.
    var wrong: String?

    mutating func read(_ name: String, _ reader: JSONReader) throws(TextError) -> Bool {
      switch name {
      case "iss", "sub", "jti": texts[name] = try present(reader.textOrNil(), name)
      case "exp", "nbf", "iat": times[name] = try present(Self.time(reader), name)
      case "aud": try readAudience(reader)
      default: return false
      }
      return true
    }

    private static func time(_ reader: JSONReader) throws(TextError) -> UInt64? {
      guard try reader.kind() == .number else {
        try reader.skip()
        return nil
      }
      return try reader.number().flatMap { $0 <= JOSE.greatestTime ? $0 : nil }
    }

    private mutating func readAudience(_ reader: JSONReader) throws(TextError) {
      guard try reader.kind() == .array else {
        audience = try present(reader.textOrNil(), "aud").map { [$0] } ?? []
        return
      }
      var names: [String?] = []
      try reader.array { () throws(TextError) in names.append(try reader.textOrNil()) }
      for name in names { if let name = present(name, "aud") { audience.append(name) } }
    }

    private mutating func present<Value>(_ value: Value?, _ name: String) -> Value? {
      if value == nil { wrong = wrong ?? name }
      return value
    }
  }
}

extension String {
  /// Whether both have the same bytes: `==` takes two ways to write one character for the same, which a server does not.
  package func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
