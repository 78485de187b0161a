import OneTimePassword
import SecretMemory
import TestSupport
import Testing

func parse(_ text: String) throws -> OTPAuthURI { try OTPAuthURI(parsing: secret(text)) }

/// What a URI says, as a value that can be compared.
struct URIContents: Equatable {
  let kind: OTPAuthURI.Kind
  let label: String
  let issuer: String?
  let account: String
  let secret: [UInt8]
  let algorithm: OTPAlgorithm
  let format: OTPFormat

  init(_ uri: borrowing OTPAuthURI) {
    kind = uri.kind
    label = uri.label
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
  let again = try OTPAuthURI(parsing: written)
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

  @Test("an issuer that the label contradicts is the parameter's, and both survive")
  func issuerMismatch() throws {
    let uri = try parse("otpauth://totp/Contoso:a@contoso.com?secret=\(rfcKeyText)&issuer=Microsoft")
    expect(uri.issuer, equals: "Microsoft")
    expect(uri.labelIssuer, equals: "Contoso")
    expect(uri.warnings, equals: [.issuerMismatch])
    try expectFixpoint(uri)
  }

  @Test(
    "a secret in any spelling is read",
    arguments: [
      "gezdgnbvgy3tqojqgezdgnbvgy3tqojq", "GEZD%20GNBV%20GY3T%20QOJQ%20GEZD%20GNBV%20GY3T%20QOJQ",
      "GEZD+GNBV+GY3T+QOJQ+GEZD+GNBV+GY3T+QOJQ", "GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ",
      "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ%3D%3D", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ==",
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

  @Test("bits that belong to no byte, an empty account and ignored parameters are warned of")
  func warnings() throws {
    try expect(parse("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGZ").warnings, equals: [.trailingBits])
    try expect(parse("otpauth://totp/?secret=\(rfcKeyText)").warnings, equals: [.emptyAccount])
    try expect(parse("otpauth://totp/A:%20?secret=\(rfcKeyText)").warnings, equals: [.emptyAccount])
    let many = try parse("otpauth://totp/x?image=a&secret=\(rfcKeyText)&lock&=&counter=x&image=b")
    expect(many.warnings, equals: [.ignoredParameters(count: 5)])
    let hotp = try parse("otpauth://hotp/x?secret=\(rfcKeyText)&counter=1&period=abc")
    expect(hotp.warnings, equals: [.ignoredParameters(count: 1)])
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
