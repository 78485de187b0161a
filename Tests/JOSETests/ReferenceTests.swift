import Foundation
import JOSE
import SecretMemory
import TestSupport
import Testing
import TextFormats
import VaultCrypto
import VaultTestKit

/// Another program, `Tests/JOSEReference`, which is made from the RFCs alone. `VAULT_JOSE_ROUNDS=10000` is the long form.
@Suite("Tokens of another program", .bounded, .requirement("D6"))
struct ReferenceTests {
  private static let script = Files.root.appending(path: "Tests/JOSEReference/jose_reference.py").path
  private static let rounds = Files.rounds ?? 100

  /// Verified to fail when ECDSA signatures are written as DER.
  @Test("it verifies random tokens and proofs of ours")
  func theyVerify() throws {
    var random = SeededGenerator()
    var lines: [String] = []
    for type in SigningKeyType.allCases {
      // Making a key of RSA takes longer than all its signatures.
      var key = try SigningKey.forTest(type)
      let jwk = { (key: borrowing SigningKey) in try JWK(key.publicKey).text() }
      for index in 0..<Self.rounds {
        if index.isMultiple(of: 10), !type.isRSA { key = try SigningKey.forTest(type) }
        let token: String
        if index.isMultiple(of: 2) {
          let proof = try DPoPProof(method: "POST", url: "https://a.example/\(index)")
          token = try key.signed(proof.unsigned(by: key.publicKey, at: Int64(index), random: SystemRandom()))
        } else {
          let payload = try SystemRandom().secret(Int.random(in: 0..<300, using: &random))
          token = try key.signed(UnsignedJWS(JWSAlgorithm(of: key.publicKey), payload: payload))
        }
        lines.append("{\"jwk\":\(try jwk(key)),\"token\":\"\(token)\"}")
      }
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "jose-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    let result = try Program("/usr/bin/python3", ["-B", Self.script, "verify", file.path]).run(errors: .apart)
    expect(result.text, equals: "\(lines.count)\n", "\(result.errors.prefix(2000))")
    print("jose: the reference verified \(result.text.dropLast()) of \(lines.count) tokens")
  }

  @Test("we verify random tokens of its, and refuse each with another signature")
  func weVerify() throws {
    let algorithms = try Set(
      SigningKeyType.allCases.map { try JWSAlgorithm(of: SigningKey.forTest($0).publicKey).rawValue }
        + [JWSAlgorithm.hs256.rawValue])
    let count = Self.rounds * algorithms.count
    let result = try Program(
      "/usr/bin/python3",
      ["-B", Self.script, "make", "\(count)", algorithms.sorted().joined(separator: ",")]
    ).run(errors: .inherited)
    var accepted = 0
    for line in result.text.split(separator: "\n") {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let jwk = try JSONSerialization.data(withJSONObject: try #require(object["jwk"]))
      let token = try #require(object["token"] as? String)
      let key = try JWK(SecretBytes(String(decoding: jwk, as: UTF8.self)))
      do {
        try key.verify(Token.read(token))
        accepted += 1
      } catch { Issue.record("\(error): \(line)") }
      let dot = try #require(token.lastIndex(of: "."))
      let after = token.index(after: dot)
      let changed = token.replacingCharacters(in: after...after, with: token[after] == "A" ? "B" : "A")
      #expect(throws: JOSEError.self) { try key.verify(Token.read(changed)) }
    }
    expect(accepted, equals: count)
    print("jose: \(accepted) of \(count) tokens of the reference verified")
  }
}
