import Foundation
import JOSE
import SecretMemory
import TestSupport
import Testing

/// Project Wycheproof's vectors of JWS and JWK, by their `result`. They are not part of the package: `VAULT_WYCHEPROOF` names
/// their directory.
@Suite("Wycheproof JOSE", .bounded, .requirement("D6"))
struct WycheproofTests {
  private struct Case {
    let id: Int
    let token: String
    let isValid: Bool
    /// A key, or a set of keys, as text.
    let key: String
  }

  /// Only what is signed by an algorithm of ours can be valid here; all else must be refused.
  @Test("keys and tokens are accepted and refused as the vectors say", arguments: ["signature", "key"])
  func vectors(subject: String) throws {
    let cases = try Self.cases("json_web_\(subject)_test")
    var applied = 0
    for one in cases {
      guard Self.mistakes[subject]?.contains(one.id) != true else { continue }
      let isOurs = Self.isOurs(one.token)
      let result = Result { try Self.verify(one.token, with: one.key) }
      let isAccepted = if case .success = result { true } else { false }
      #expect(isAccepted == (one.isValid && isOurs), "case \(one.id): \(result)")
      if case .failure(let error) = result { #expect(error is JOSEError, "case \(one.id): \(error)") }
      applied += isOurs ? 1 : 0
    }
    print("vectors: wycheproof JSON web \(subject): \(applied) of \(cases.count) applied")
    #expect(applied > 10)
  }

  /// Of the files themselves: 367 and 370 are, byte for byte, the token of 357, which is valid; 372 and 373 have a `?` inside a
  /// part, which is no character of base64url (RFC 7515 §2), and are called valid.
  private static let mistakes: [String: Set<Int>] = ["signature": [367, 370, 372, 373]]

  @Test("the cases that are left out are those that contradict others, or the RFC")
  func leftOut() throws {
    let cases = try Self.cases("json_web_signature_test")
    let tokens = Dictionary(uniqueKeysWithValues: cases.map { ($0.id, $0) })
    let valid = try #require(tokens[357])
    #expect(valid.isValid)
    for id in [367, 370] { #expect(tokens[id]?.token == valid.token && tokens[id]?.isValid == false) }
    for id in [372, 373] {
      let one = try #require(tokens[id])
      #expect(one.isValid && one.token.contains("?"))
      #expect(throws: JOSEError.self) { try Self.verify(one.token, with: one.key) }
    }
  }

  private static func verify(_ token: String, with key: String) throws {
    let jws = try Token.read(token)
    if key.hasPrefix("{\"keys\"") {
      try JWKSet(SecretBytes(key)).verify(jws)
    } else {
      try JWK(SecretBytes(key)).verify(jws)
    }
  }

  /// By the header alone, read without our reader.
  private static func isOurs(_ token: String) -> Bool {
    guard let head = token.split(separator: ".", omittingEmptySubsequences: false).first,
      let data = Data(base64Encoded: padded(String(head))),
      let header = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return true }
    guard let name = header["alg"] as? String else { return true }
    return !["RS384", "RS512", "PS256", "PS384", "PS512", "HS384", "HS512", "ES521", "ES512"].contains(name)
  }

  private static func padded(_ text: String) -> String {
    let text = text.replacing("-", with: "+").replacing("_", with: "/")
    return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
  }

  private static func cases(_ name: String) throws -> [Case] {
    let file = try #require(try JSONSerialization.jsonObject(with: wycheproof(name)) as? [String: Any])
    let groups = try #require(file["testGroups"] as? [[String: Any]])
    return try groups.flatMap { group in
      let given = try #require(group["public"] ?? group["private"])
      let key = try JSONSerialization.data(withJSONObject: publicPart(of: given))
      return try #require(group["tests"] as? [[String: Any]]).map { test in
        Case(
          id: try #require(test["tcId"] as? Int), token: try #require(test["jws"] as? String),
          isValid: test["result"] as? String == "valid", key: String(decoding: key, as: UTF8.self))
      }
    }
  }

  /// Some groups have only the whole key, which we refuse as such.
  private static func publicPart(of value: Any) -> Any {
    if let keys = (value as? [String: Any])?["keys"] as? [[String: Any]] {
      return ["keys": keys.map(publicPart)]
    }
    guard let key = value as? [String: Any] else { return value }
    return key.filter { !["d", "p", "q", "dp", "dq", "qi"].contains($0.key) }
  }
}
