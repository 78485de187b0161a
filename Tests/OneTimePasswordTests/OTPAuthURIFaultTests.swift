import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("otpauth URIs that are refused", .bounded)
struct OTPAuthURIFaultTests {
  @Test(
    "each fault has its own error",
    arguments: [
      ("", .notOTPAuth), ("otpauth:/", .notOTPAuth), ("https://totp/x?secret=A", .notOTPAuth),
      ("otpauth://totp/x", .missingSecret), ("otpauth://totp/x?issuer=y", .missingSecret),
      ("otpauth://totp/x&secret=\(rfcKeyText)", .missingSecret), ("otpauth://totp/x?", .missingSecret),
      ("otpauth://totp?secret=\(rfcKeyText)", .missingLabel),
      ("otpauth://totp?secret=\(rfcKeyText)&a=/", .missingLabel),
      ("otpauth://xotp/x?secret=\(rfcKeyText)", .unknownType),
      ("otpauth:///x?secret=\(rfcKeyText)", .unknownType),
      ("otpauth://hotp/x?secret=\(rfcKeyText)", .missingCounter),
      ("otpauth://totp/x?secret=\(rfcKeyText)&secret=\(rfcKeyText)", .duplicateParameter),
      ("otpauth://totp/x?secret=\(rfcKeyText)&digits=6&DIGITS=8", .duplicateParameter),
      ("otpauth://totp/x?secret=\(rfcKeyText)&issuer=&issuer=A", .duplicateParameter),
      ("otpauth://totp/x%?secret=\(rfcKeyText)", .malformedPercentEncoding),
      ("otpauth://totp/x%4?secret=\(rfcKeyText)", .malformedPercentEncoding),
      ("otpauth://totp/x?secret=\(rfcKeyText)%4", .malformedPercentEncoding),
      ("otpauth://totp/x?secret=\(rfcKeyText)&issuer=%zz", .malformedPercentEncoding),
      ("otpauth://totp/%ff?secret=\(rfcKeyText)", .notUTF8),
      ("otpauth://totp/%c0%80?secret=\(rfcKeyText)", .notUTF8),
      ("otpauth://totp/%ed%a0%80?secret=\(rfcKeyText)", .notUTF8),
      ("otpauth://totp/x%0a?secret=\(rfcKeyText)", .controlCharacter),
      ("otpauth://totp/x%00?secret=\(rfcKeyText)", .controlCharacter),
      ("otpauth://totp/%c2%9b31m?secret=\(rfcKeyText)", .controlCharacter),
      ("otpauth://totp/%E2%80%AEx?secret=\(rfcKeyText)", .controlCharacter),
      ("otpauth://totp/x?secret=\(rfcKeyText)&issuer=%1b[2J", .controlCharacter),
      ("otpauth://totp/x?secret=\(rfcKeyText)\n&digits=8", .controlCharacter),
      ("otpauth://totp/x?secret=\(rfcKeyText)#a", .fragment),
      ("otpauth://totp/x?secret=\(rfcKeyText)&encoder=other", .unknownEncoder),
      ("otpauth://hotp/x?secret=\(rfcKeyText)&counter=0&encoder=steam", .unknownEncoder),
      ("otpauth://hotp/x?secret=\(rfcKeyText)&counter=", .missingCounter),
      ("otpauth://totp/x?secret=\(rfcKeyText)&digits=&digits=8", .duplicateParameter),
    ] as [(String, OTPError.URIFault)])
  func faults(_ text: String, fault: OTPError.URIFault) {
    #expect(throws: OTPError.invalidURI(fault)) { _ = try parse(text) }
  }

  @Test(
    "each bad value has its own error",
    arguments: [
      ("digits=5", .invalidDigits), ("digits=9", .invalidDigits), ("digits=005", .invalidDigits),
      ("digits=+6", .invalidDigits), ("digits=six", .invalidDigits),
      ("digits=18446744073709551622", .invalidDigits),
      ("digits=%20", .invalidDigits), ("period=0", .invalidPeriod), ("period=-30", .invalidPeriod),
      ("period=%20", .invalidPeriod), ("period=1.5", .invalidPeriod),
      ("period=9223372036854775808", .invalidPeriod), ("period=99999999999999999999", .invalidPeriod),
      ("algorithm=MD5", .unknownAlgorithm), ("algorithm=%20", .unknownAlgorithm),
      ("algorithm=SHA", .unknownAlgorithm), ("algorithm=SHA3-256", .unknownAlgorithm),
      ("encoder=steam&digits=6", .invalidDigits), ("encoder=steam&period=60", .invalidPeriod),
      ("encoder=steam&algorithm=SHA256", .unknownAlgorithm), ("issuer=Steam&period=31", .invalidPeriod),
    ] as [(String, OTPError)])
  func values(_ parameter: String, error: OTPError) {
    #expect(throws: error) { _ = try parse("otpauth://totp/x?secret=\(rfcKeyText)&\(parameter)") }
  }

  /// Verified to fail when an unknown parameter is left out.
  @Test(
    "an unknown parameter refuses the URI and is named, unless its name can be a part of the secret",
    arguments: [
      ("digit=8", "digit", 5), ("amp_digits=8", "amp_digits", 10), ("hash=SHA256", "hash", 4),
      ("secret-format=hex", "secret-format", 13), ("t0=0", nil, 2), ("2step_salt=8", nil, 10),
      ("pin=1", "pin", 3), ("Digits.=8", "Digits.", 7), ("ALGO=SHA256", nil, 4), ("digit", nil, 5),
      ("abcd=", nil, 4), ("abcd===", nil, 4), ("ab cd=e", nil, 5), ("%E2%80%AEx=1", nil, 4), ("=8", nil, 0),
      ("&lt;digits=8", nil, 9), ("&quot;=8", nil, 5), (" digits=8", nil, 7),
      ("\(String(repeating: "a", count: 33))=1", nil, 33),
    ] as [(String, String?, Int)])
  func unknownParameters(_ parameter: String, name: String?, byteCount: Int) {
    #expect(throws: OTPError.invalidURI(.unknownParameter(name: name, byteCount: byteCount))) {
      _ = try parse("otpauth://totp/x?secret=\(rfcKeyText)&\(parameter)")
    }
    #expect(throws: OTPError.invalidURI(.unknownParameter(name: name, byteCount: byteCount))) {
      _ = try parse("otpauth://totp/x?\(parameter)&secret=\(rfcKeyText)")
    }
  }

  @Test("the message for an unknown parameter names it, or says how long its name is")
  func unknownParameterMessage() throws {
    let head = "otpauth://totp/x?secret=\(rfcKeyText)"
    let named = try #require(throws: OTPError.self) { _ = try parse(head + "&digit=8") }
    expect(
      named.message,
      equals: "that is not an otpauth URI: its parameter 'digit' is unknown, and could change the codes")
    let unnamed = try #require(throws: OTPError.self) { _ = try parse(head + "&\(rfcKeyText)") }
    #expect(unnamed.message.hasSuffix("of 32 characters, whose name could be a part of the secret"))
  }

  @Test(
    "a counter that is no 64-bit number is refused",
    arguments: ["-1", "+1", "1e3", " 1", "18446744073709551616", "99999999999999999999999", "0x10"])
  func counters(_ counter: String) {
    #expect(throws: OTPError.invalidCounter) {
      _ = try parse("otpauth://hotp/x?secret=\(rfcKeyText)&counter=\(counter)")
    }
  }

  @Test(
    "a secret that is none is refused",
    arguments: [
      ("", .emptyKey), ("==", .emptyKey), ("GEZDGNBVGY3TQOI", .secretTooShort(bitCount: 72)),
      ("GEZDGNBVGY3TQOJ1", .invalidBase32(position: 15)), ("GEZDGNBVGY3TQOJQG", .invalidBase32(position: 17)),
      ("%47%00", .invalidBase32(position: 1)), ("AB%C2", .invalidBase32(position: 2)),
      ("AB%C2AB", .invalidBase32(position: 2)), ("AB%A0", .invalidBase32(position: 2)),
      (String(repeating: "A", count: 824), .secretTooLong),
    ] as [(String, OTPError)])
  func secrets(_ spelling: String, error: OTPError) {
    #expect(throws: error) { _ = try parse("otpauth://totp/x?secret=\(spelling)") }
  }

  @Test("a URI and a name have a longest length")
  func lengths() throws {
    let head = "otpauth://totp/x?secret=\(rfcKeyText)&image="
    let room = OTPAuthURI.maximumByteCount - head.utf8.count
    _ = try parse(head + String(repeating: "a", count: room))
    #expect(throws: OTPError.invalidURI(.tooLong)) {
      _ = try parse(head + String(repeating: "a", count: room + 1))
    }
    let name = String(repeating: "n", count: OTPAuthURI.maximumNameByteCount)
    try expect(parse("otpauth://totp/\(name):\(name)?secret=\(rfcKeyText)").account, equals: name)
    for text in [
      "otpauth://totp/\(name)n?secret=\(rfcKeyText)", "otpauth://totp/\(name)n:a?secret=\(rfcKeyText)",
      "otpauth://totp/a?secret=\(rfcKeyText)&issuer=n\(name)",
    ] {
      #expect(throws: OTPError.invalidURI(.nameTooLong)) { _ = try parse(text) }
    }
  }

  @Test("what we make obeys the same rules")
  func building() {
    func make(
      _ kind: OTPAuthURI.Kind, issuer: String? = nil, account: String = "x", key: Int = 20,
      algorithm: OTPAlgorithm? = nil, digits: Int? = nil
    ) throws {
      _ = try OTPAuthURI(
        kind: kind, issuer: issuer, account: account, secret: secret([UInt8](repeating: 1, count: key)),
        algorithm: algorithm, digits: digits)
    }
    #expect(throws: OTPError.invalidPeriod) { try make(.totp(periodSeconds: 0)) }
    #expect(throws: OTPError.invalidDigits) { try make(.hotp(counter: 0), digits: 9) }
    #expect(throws: OTPError.invalidDigits) { try make(.steam, digits: 6) }
    #expect(throws: OTPError.unknownAlgorithm) { try make(.steam, algorithm: .sha256) }
    #expect(throws: OTPError.emptyKey) { try make(.steam, key: 0) }
    #expect(throws: OTPError.secretTooShort(bitCount: 72)) { try make(.steam, key: 9) }
    #expect(throws: OTPError.secretTooLong) { try make(.steam, key: 513) }
    #expect(throws: OTPError.invalidURI(.controlCharacter)) { try make(.steam, account: "a\u{1b}") }
    #expect(throws: OTPError.invalidURI(.controlCharacter)) { try make(.steam, issuer: "\u{2028}") }
    #expect(throws: OTPError.invalidURI(.nameTooLong)) {
      try make(.steam, issuer: String(repeating: "ä", count: 128))
    }
  }

  @Test("no error and no warning shows a piece of the secret, wherever the text breaks")
  func secrecy() {
    let canary = "KRUGS43JONXG65DU"
    for text in [
      "otpauth://totp/x?secret=\(canary)1", "otpauth://totp/x?secret=\(canary)&\(canary)",
      "otpauth://totp/x?secret=\(canary)&\(canary)=\(canary)", "otpauth://totp/x&secret=\(canary)",
      "otpauth://hotp/x?secret=\(canary)", "otpauth://totp/x?secret=\(canary)&algorithm=\(canary)",
      "otpauth://totp/x?secret=\(canary)%G0", "otpauth://totp/x?secret=\(canary)&secret=\(canary)",
      "otpauth://\(canary)/x?secret=\(canary)", "\(canary)",
    ] {
      let shown: String
      do {
        shown = "\(try parse(text).warnings)"
      } catch {
        shown = "\(error) \(String(reflecting: error))"
      }
      #expect(!shown.uppercased().contains(canary.prefix(4)), "\(shown.count) characters")
    }
  }
}
