import JOSE
import SecretMemory
import TestSupport
import Testing
import TextFormats

@Suite("The claims of a JWT", .bounded)
struct JWTClaimsTests {
  private func claims(_ text: String) throws(JOSEError) -> JWTClaims { try JWTClaims(SecretBytes(text)) }

  @Test("registered claims are read, and one or several audiences", .requirement("D6"))
  func registered() throws {
    let one = try claims(
      #"{"iss":"a","sub":"b","aud":"c","exp":10,"nbf":5,"iat":4,"jti":"d","other":{"deep":[1,2.5e3,null]}}"#)
    #expect(one.issuer == "a" && one.subject == "b" && one.audience == ["c"] && one.id == "d")
    #expect(one.expiry == 10 && one.notBefore == 5 && one.issued == 4)
    #expect(try claims(#"{"aud":["c","d"]}"#).audience == ["c", "d"])
    #expect(try claims("\r\n { \"aud\" :\t[] }\n").audience.isEmpty)
  }

  /// Verified to fail when a number with an exponent counts as a time.
  @Test(
    "a time is a whole number of seconds up to 2^53", .requirement("D6"), arguments: ["exp", "nbf", "iat"])
  func times(name: String) throws {
    for value in [
      "\"1300819380\"", "1e300", "1e3", "1.5", "-1", "true", "null", "[1]", "{}", "9007199254740993",
      "18446744073709551616", "1" + String(repeating: "0", count: 400),
    ] {
      expect(.wrongType(name)) { () throws(JOSEError) in _ = try claims("{\"\(name)\":\(value)}") }
    }
    for value in ["0", "9007199254740992"] { _ = try claims("{\"\(name)\":\(value)}") }
  }

  @Test("names are texts", .requirement("D6"))
  func texts() {
    for name in ["iss", "sub", "jti", "aud"] {
      for value in ["7", "{}", "true", "null"] + (name == "aud" ? ["[7]", "[\"a\",null]"] : ["[\"a\"]"]) {
        expect(.wrongType(name)) { () throws(JOSEError) in _ = try claims("{\"\(name)\":\(value)}") }
      }
    }
  }

  @Test("a payload that is not one object of JSON is refused", .requirement("D6"))
  func broken() {
    for text in [
      "", "foo", "[]", "{\"exp\":1,\"exp\":2}", "{\"exp\":1}x", "{\"exp\":1}{}", "{\"exp\":1",
      "{\"a\":" + String(repeating: "[", count: 10_000), "{\"exp\":+1}", "{\"exp\":.5}",
    ] {
      #expect {
        _ = try claims(text)
      } throws: {
        ($0 as? JOSEError)?.isMalformed == true
      }
    }
  }

  /// Verified to fail when the leeway prolongs `exp`.
  @Test("times are compared with the given clock", .requirement("D6"))
  func clock() throws {
    let token = try claims(#"{"exp":1000,"nbf":500}"#)
    for now in [440, 500, 999] as [Int64] { try token.checkTimes(at: now) }
    expect(.notYetValid) { () throws(JOSEError) in try token.checkTimes(at: 439) }
    expect(.notYetValid) { () throws(JOSEError) in try token.checkTimes(at: 499, leeway: 0) }
    for now in [1000, 1001, .max] as [Int64] {
      expect(.expired) { () throws(JOSEError) in try token.checkTimes(at: now) }
    }
    expect(.missing("exp")) { () throws(JOSEError) in try claims("{}").checkTimes(at: 0) }
  }

  @Test("issuer and audience are compared byte for byte", .requirement("D6"))
  func names() throws {
    let token = try claims("{\"iss\":\"caf\u{E9}\",\"aud\":[\"a\",\"b\"]}")
    try token.checkIssuer("caf\u{E9}")
    expect(.wrongValue("iss")) { () throws(JOSEError) in try token.checkIssuer("cafe\u{301}") }
    try token.checkAudience("b")
    for other in ["B", "c", ""] {
      expect(.wrongValue("aud")) { () throws(JOSEError) in try token.checkAudience(other) }
    }
    expect(.wrongValue("aud")) { () throws(JOSEError) in try token.checkAudience("b", only: true) }
    expect(.missing("aud")) { () throws(JOSEError) in try claims("{}").checkAudience("b") }
    expect(.missing("iss")) { () throws(JOSEError) in try claims("{}").checkIssuer("b") }
  }
}
