import OneTimePassword
import SecretMemory
import TestSupport
import Testing

func parse(_ text: String) throws -> OTPAuthURI { try OTPAuthURI(parsing: secret(text)) }

/// What a URI says, as a value that can be compared.
struct URIContents: Equatable {
  let kind: OTPAuthURI.Kind
  let issuer: String?
  let account: String
  let secret: [UInt8]
  let algorithm: OTPAlgorithm
  let format: OTPFormat

  init(_ uri: borrowing OTPAuthURI) {
    kind = uri.kind
    issuer = uri.issuer
    account = uri.account
    secret = bytes(of: uri.secret)
    algorithm = uri.algorithm
    format = uri.format
  }
}

/// Writes a URI, reads it, and expects the same contents and the same text again.
func expectFixpoint(_ uri: borrowing OTPAuthURI, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let written = uri.text()
  let again = try OTPAuthURI(parsing: written, allowingWeak: true)
  #expect(URIContents(again) == URIContents(uri), sourceLocation: sourceLocation)
  let isSameText = again.text().isEqualInConstantTime(to: written)
  #expect(isSameText, sourceLocation: sourceLocation)
}

@Suite("otpauth URIs", .bounded)
struct OTPAuthURITests {
  @Test("a counter-based URI keeps its counter", arguments: [0, 1, 1 << 53, UInt64.max])
  func counter(_ counter: UInt64) throws {
    let uri = try parse("otpauth://hotp/x?secret=\(rfcKeyText)&counter=\(counter)")
    expect(uri.kind, equals: .hotp(counter: counter))
    expect(uri.counter, equals: counter)
    #expect(uri.steps == nil)
    #expect(uri.issuer == nil)
    expect(uri.label, equals: "x")
    expect(uri.warnings, equals: [])
    try expectFixpoint(uri)
  }

  @Test("defaults are SHA-1, six digits, 30 seconds")
  func defaults() throws {
    let uri = try parse("otpauth://totp/x?secret=\(rfcKeyText)")
    expect(uri.algorithm, equals: .sha1)
    expect(uri.format, equals: .sixDigits)
    expect(uri.kind, equals: .totp(periodSeconds: 30))
    #expect(uri.steps == (try TimeSteps(periodSeconds: 30)))
    #expect(uri.counter == nil)
    let written = text(of: uri.text())
    expect(written, equals: "otpauth://totp/x?secret=\(rfcKeyText)&algorithm=SHA1&digits=6&period=30")
  }

  @Test(
    "URIs as services print them",
    arguments: [
      (
        "otpauth://totp/Google:alice@gmail.com?secret=\(rfcKeyText)&issuer=Google", "Google",
        "alice@gmail.com"
      ),
      ("otpauth://totp/GitHub:octocat?secret=\(rfcKeyText)&issuer=GitHub", "GitHub", "octocat"),
      (
        "otpauth://totp/Amazon%20Web%20Services:root-account-mfa-device@123456789012?secret="
          + "\(rfcKeyText)\(rfcKeyText)&issuer=Amazon%20Web%20Services",
        "Amazon Web Services", "root-account-mfa-device@123456789012"
      ),
      ("otpauth://totp/Dropbox:a@b.c?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY&issuer=Dropbox", "Dropbox", "a@b.c"),
      (
        "otpauth://totp/Contoso%3Aalice%40contoso.com?secret=\(rfcKeyText)&issuer=Contoso", "Contoso",
        "alice@contoso.com"
      ),
      (
        "otpauth://totp/GitLab%3Agitlab.com%3A%20bob?secret=\(rfcKeyText)&issuer=GitLab", "GitLab",
        "gitlab.com: bob"
      ),
      ("otpauth://totp/My Shop:bob smith?secret=\(rfcKeyText)&issuer=My+Shop", "My Shop", "bob smith"),
      ("OTPAUTH://TOTP/Bücher:jörg?Secret=\(rfcKeyText)&ISSUER=B%C3%BCcher&&", "Bücher", "jörg"),
    ])
  func services(_ text: String, issuer: String, account: String) throws {
    let uri = try parse(text)
    expect(uri.issuer, equals: issuer)
    expect(uri.account, equals: account)
    expect(uri.label, equals: "\(issuer):\(account)")
    expect(uri.warnings, equals: [])
    try expectFixpoint(uri)
  }

  @Test("an issuer that the label contradicts is the parameter's, which is the one that is written")
  func issuerMismatch() throws {
    let uri = try parse("otpauth://totp/Contoso:a@contoso.com?secret=\(rfcKeyText)&issuer=Microsoft")
    expect(uri.issuer, equals: "Microsoft")
    expect(uri.labelIssuer, equals: "Contoso")
    expect(uri.warnings, equals: [.issuerMismatch])
    #expect(text(of: uri.text()).hasPrefix("otpauth://totp/Microsoft:a%40contoso.com?"))
    try expectFixpoint(uri)
  }

  /// Verified to fail when the label is always split at its first colon, and when one that is the issuer alone is split.
  @Test(
    "issuers and accounts with a colon are told apart, and are read again as they were written",
    arguments: [
      ("Test%3A%20Foo%3AUser", "Test%3A%20Foo", "Test: Foo", "User"),
      ("Big%3ACorp:anna@x", nil, "Big:Corp", "anna@x"),
      ("Big%3ACorp:anna@x", "Big%3ACorp", "Big:Corp", "anna@x"),
      ("Big:Corp:anna@x", "Big:Corp", "Big:Corp", "anna@x"), ("Big:Corp:anna@x", "Big", "Big", "Corp:anna@x"),
      ("Big%3ACorp%3A%20anna%40x", "Big%3ACorp", "Big:Corp", "anna@x"),
      (" Big:Corp : anna@x", "Big:Corp", "Big:Corp", "anna@x"),
      ("anna@x", "Big%3ACorp", "Big:Corp", "anna@x"),
      ("A:b:c", nil, "A", "b:c"), ("A%3Ab%3Ac", nil, "A", "b:c"), (":b%3Ac", nil, nil, "b:c"),
      ("A:A:b", "A", "A", "A:b"), ("A:", "A", "A", ""), ("A", "A", "A", "A"),
      ("https%3A%2F%2Fx%3A80", "https%3A%2F%2Fx%3A80", "https://x:80", "https://x:80"),
      ("A:B", "A:B", "A:B", "A:B"),
      ("AB:c", "A", "A", "c"),
      ("A:b", "", "A", "b"), ("mailto:b", "B", "B", "b"), ("A::b", nil, "A", ":b"),
    ] as [(String, String?, String?, String)])
  func colons(label: String, parameter: String?, issuer: String?, account: String) throws {
    let uri = try parse(
      "otpauth://totp/\(label)?secret=\(rfcKeyText)" + (parameter.map { "&issuer=\($0)" } ?? ""))
    expect(uri.issuer, equals: issuer)
    expect(uri.account, equals: account)
    try expectFixpoint(uri)
  }

  @Test(
    "a label is written so that every reader splits it in the same place",
    arguments: [
      ("A", "b", "A:b"), ("A", "b:c", "A:b%3Ac"), ("A:B", "c", "c"), ("A:B", "c:d", "A%3AB:c%3Ad"),
      (nil, "b", "b"), (nil, "b:c", ":b%3Ac"), ("A", "", "A:"), ("A:B", "", ""),
    ] as [(String?, String, String)])
  func writtenLabels(issuer: String?, account: String, label: String) throws {
    let uri = try OTPAuthURI(kind: .steam, issuer: issuer, account: account, secret: rfcKey())
    let written = text(of: uri.text())
    #expect(written.hasPrefix("otpauth://totp/\(label)?secret="), "\(written)")
    try expectFixpoint(uri)
  }

  /// Verified to fail when `&amp;` begins a parameter of another name.
  @Test(
    "an escaped ampersand separates parameters",
    arguments: ["&amp;", "&#38;", "&#038;", "&#x26;", "&AMP;", "&amp;amp;", "&amp;&amp;", "&"])
  func escapedAmpersands(_ separator: String) throws {
    let uri = try parse(
      ["otpauth://totp/x?secret=\(rfcKeyText)", "issuer=A", "algorithm=SHA256", "digits=8", "period=60"]
        .joined(separator: separator))
    #expect(uri.algorithm == .sha256 && uri.format.length == 8 && uri.issuer == "A")
    expect(uri.kind, equals: .totp(periodSeconds: 60))
    expect(uri.warnings, equals: [])
    let code = try TOTPGenerator(
      key: rfcKey(),
      digits: parse(
        "otpauth://totp/x?secret=\(rfcKeyText)\(separator)digits=8"
      ).format.length
    ).code(at: 59)
    expect(code.code, equals: "94287082")
    try expect(parse("otpauth://totp/AT&amp;T:x?secret=\(rfcKeyText)").issuer, equals: "AT&T")
  }

  @Test(
    "blanks and ends of lines around a URI are no part of it",
    arguments: ["\n", "\r\n", "\n\n", " ", "\t\r\n "])
  func surroundings(_ blanks: String) throws {
    let uri = try parse("\(blanks)otpauth://totp/x?secret=\(rfcKeyText)&digits=8\(blanks)")
    #expect(uri.format.length == 8 && uri.account == "x")
  }

  @Test("a parameter without a value is absent, and a missing issuer alone is not worth a word")
  func emptyValues() throws {
    let uri = try parse("otpauth://totp/x?secret=\(rfcKeyText)&digits=&PERIOD&algorithm=&issuer=&encoder=")
    #expect(uri.format.length == 6 && uri.algorithm == .sha1 && uri.issuer == nil)
    expect(uri.kind, equals: .totp(periodSeconds: 30))
    expect(uri.warnings, equals: [.emptyParameters(["digits", "period", "algorithm", "encoder"])])
    try expect(parse("otpauth://totp/x?secret=\(rfcKeyText)&issuer=").warnings, equals: [])
    try expect(parse("otpauth://totp/x?secret=\(rfcKeyText)&counter=").warnings, equals: [])
  }

  @Test("numbers may have zeros before them, and names of parameters percent-coded letters")
  func spellings() throws {
    let uri = try parse("otpauth://totp/x?%73ecret=\(rfcKeyText)&digits=08&period=060&Algorithm=sha-512")
    #expect(uri.format.length == 8 && uri.algorithm == .sha512)
    expect(uri.kind, equals: .totp(periodSeconds: 60))
    try expect(parse("otpauth://hotp/x?secret=\(rfcKeyText)&counter=007").counter, equals: 7)
  }

  @Test(
    "a secret in any spelling is read",
    arguments: [
      "gezdgnbvgy3tqojqgezdgnbvgy3tqojq", "GEZD%20GNBV%20GY3T%20QOJQ%20GEZD%20GNBV%20GY3T%20QOJQ",
      "GEZD+GNBV+GY3T+QOJQ+GEZD+GNBV+GY3T+QOJQ", "GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ",
      "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ%3D%3D", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ==",
      "GEZD\u{A0}GNBV\u{A0}GY3TQOJQ%C2%A0GEZDGNBVGY3TQOJQ",
    ])
  func secretSpellings(_ spelling: String) throws {
    let uri = try parse("otpauth://totp/x?secret=\(spelling)")
    expect(text(of: uri.secret), equals: "12345678901234567890")
  }

  @Test("a short secret is accepted with a warning, and names its bits")
  func shortSecret() throws {
    try expect(
      parse("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ").warnings, equals: [.shortSecret(bitCount: 80)])
    try expect(parse("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY").warnings, equals: [])
  }

  @Test("a weak credential is read where the caller allows it, with a warning, and written again")
  func weak() throws {
    for text in ["otpauth://totp/x?secret=MY3DQZRR", "otpauth://totp/x?secret=\(rfcKeyText)&digits=5"] {
      #expect(throws: OTPError.self) { _ = try parse(text) }
    }
    let short = try OTPAuthURI(parsing: secret("otpauth://totp/x?secret=MY3DQZRR"), allowingWeak: true)
    expect(short.warnings, equals: [.weakSecret(bitCount: 40)])
    try expectFixpoint(short)
    let uri = "otpauth://totp/x?secret=\(rfcKeyText)"
    for (digits, code) in [(4, "7082"), (5, "87082")] {
      let few = try OTPAuthURI(parsing: secret("\(uri)&digits=\(digits)"), allowingWeak: true)
      expect(few.warnings, equals: [.fewDigits(digits)])
      #expect(few.format.isWeak && !few.format.isSteam && few.format.length == digits)
      let generator = try TOTPGenerator(
        key: rfcKey(), algorithm: .sha1, format: few.format, steps: TimeSteps())
      try expect(generator.code(at: 59).code, equals: code)
      try expect(OTPCode(code, format: few.format).text, equals: code)
      try expectFixpoint(few)
    }
    for digits in ["0", "3", "9", "10"] {
      #expect(throws: OTPError.invalidDigits) {
        _ = try OTPAuthURI(parsing: secret("\(uri)&digits=\(digits)"), allowingWeak: true)
      }
    }
    #expect(throws: OTPError.emptyKey) {
      _ = try OTPAuthURI(parsing: secret("otpauth://totp/x?secret="), allowingWeak: true)
    }
  }

  @Test("bits that belong to no byte, an empty account and ignored parameters are warned of")
  func warnings() throws {
    try expect(parse("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGZ").warnings, equals: [.trailingBits])
    try expect(parse("otpauth://totp/?secret=\(rfcKeyText)").warnings, equals: [.emptyAccount])
    try expect(parse("otpauth://totp/A:%20?secret=\(rfcKeyText)").warnings, equals: [.emptyAccount])
    let many = try parse("otpauth://totp/x?image=a&secret=\(rfcKeyText)&lock&=&counter=x&image=b")
    expect(many.warnings, equals: [.ignoredParameters(["image", "lock", "counter"])])
    let hotp = try parse("otpauth://hotp/x?secret=\(rfcKeyText)&counter=1&period=abc")
    expect(hotp.warnings, equals: [.ignoredParameters(["period"])])
    let shown = try parse(
      "otpauth://totp/x?secret=\(rfcKeyText)&icon=a&COLOR=ff0000&issuericon=b&codeDisplay=%7B%7D&id=1&tags=a")
    expect(
      shown.warnings,
      equals: [.ignoredParameters(["icon", "color", "issuerIcon", "codeDisplay", "id", "tags"])])
  }

  @Test(
    "the names of an algorithm",
    arguments: [
      ("SHA1", OTPAlgorithm.sha1), ("sha1", .sha1), ("SHA-1", .sha1), ("HmacSHA1", .sha1),
      ("SHA256", .sha256),
      ("sha-256", .sha256), ("HMAC-SHA-256", .sha256), ("SHA512", .sha512), ("HMACSHA512", .sha512),
    ])
  func algorithms(_ name: String, algorithm: OTPAlgorithm) throws {
    let uri = try parse("otpauth://totp/x?secret=\(rfcKeyText)&algorithm=\(name)")
    expect(uri.algorithm, equals: algorithm)
    try expectFixpoint(uri)
  }

  @Test(
    "Steam codes are known by type, by encoder, and by issuer",
    arguments: [
      "otpauth://steam/Steam:gordon?secret=\(rfcKeyText)",
      "otpauth://totp/Steam:gordon?secret=\(rfcKeyText)&issuer=Steam&encoder=steam&digits=5&period=30",
      "otpauth://totp/Steam:gordon?secret=\(rfcKeyText)&issuer=Steam",
      "otpauth://totp/gordon?secret=\(rfcKeyText)&issuer=steam&algorithm=SHA1",
      "otpauth://totp/Valve:gordon?secret=\(rfcKeyText)&encoder=STEAM",
    ])
  func steam(_ text: String) throws {
    let uri = try parse(text)
    expect(uri.kind, equals: .steam)
    expect(uri.format, equals: .steam)
    #expect(uri.steps == (try TimeSteps()))
    try expectFixpoint(uri)
  }

  @Test("an issuer called Steam with six digits is no Steam code")
  func notSteam() throws {
    let uri = try parse("otpauth://totp/Steam:gordon?secret=\(rfcKeyText)&digits=6")
    expect(uri.kind, equals: .totp(periodSeconds: 30))
    try expectFixpoint(uri)
  }

  @Test(
    "what we make is read as it was made",
    arguments: [
      (nil, "x"), ("", "x"), ("A", "b"), ("A B", "c d"), ("A:B", "c"), ("A:B", "c:d"), (nil, "c:d"),
      ("Ä&=?#%+/", "é:🙂"),
      ("100%", "a+b@c"), (" A ", " b "), ("A", ""),
    ])
  func built(issuer: String?, account: String) throws {
    let uri = try OTPAuthURI(
      kind: .totp(periodSeconds: 45), issuer: issuer, account: account, secret: rfcKey(), algorithm: .sha256,
      digits: 8)
    try expectFixpoint(uri)
  }

  @Test("the longest of everything still fits")
  func longest() throws {
    let name = String(repeating: "ÿ", count: 127)
    let key = secret((0..<OTPAuthURI.maximumSecretByteCount).map { UInt8(truncatingIfNeeded: $0) })
    let uri = try OTPAuthURI(
      kind: .hotp(counter: .max), issuer: name, account: name, secret: key, algorithm: .sha512, digits: 8)
    #expect(uri.text().byteCount <= OTPAuthURI.maximumByteCount)
    try expectFixpoint(uri)
  }
}
