import JOSE
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultTestKit

/// Bytes that somebody has altered: each is read or refused by an error of this module, and nothing stops the process.
@Suite("Altered tokens, keys and addresses", .bounded, .requirement("D6"))
struct AlteredInputTests {
  private static let rounds = Files.rounds ?? 3_000

  /// Changes, removes, adds and repeats some bytes.
  private static func altered(_ text: String, _ random: inout SeededGenerator) -> SecretBytes {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = bytes.indices.randomElement(using: &random) ?? 0
      switch Int.random(in: 0...4, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2: bytes.remove(at: place)
      case 3: bytes.insert("{}[]\",:.\\-_0e".utf8.randomElement(using: &random) ?? 0, at: place)
      default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
      }
    }
    return SecretBytes(copying: bytes)
  }

  /// `nil` for a token that is not read.
  private static func isVerified(_ token: borrowing SecretBytes, _ key: VerifyingKey) -> Bool? {
    do throws(JOSEError) {
      let jws = try CompactJWS(token)
      _ = try? JWTClaims(jws.payload)
      do throws(JOSEError) { try jws.verify(with: key) } catch { return false }
      return true
    } catch { return nil }
  }

  @Test("tokens: none that was altered is verified")
  func tokens() throws {
    var random = SeededGenerator(seed: 1)
    let key = try SigningKey.forTest(.p256)
    let token = try key.signed(
      DPoPProof(method: "POST", url: "https://a.example/", nonce: "n")
        .unsigned(by: key.publicKey, at: 1, random: SystemRandom()))
    var read = 0
    for _ in 0..<Self.rounds {
      let altered = Self.altered(token, &random)
      guard altered.text != token else { continue }
      guard let isVerified = Self.isVerified(altered, key.publicKey) else { continue }
      read += 1
      #expect(!isVerified, "\(altered.text)")
    }
    #expect(read > 0)
  }

  @Test("headers and claims as text, keys and sets of keys")
  func objects() throws {
    var random = SeededGenerator(seed: 2)
    let key = try JWK(SigningKey.forTest(.rsa2048).publicKey, keyID: "k").text()
    let header = "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":\(key),\"kid\":\"\\u00e9\\ud83d\\ude00\"}"
    let claims =
      #"{"iss":"a","aud":["b","c"],"exp":4102444800,"nbf":1,"iat":-0.5e10,"x":{"y":[true,null,"\n"]}}"#
    var read = 0
    for _ in 0..<Self.rounds {
      let head = Base64URL.text(Array(Self.altered(header, &random).text.utf8))
      if (try? Token.read("\(head).e30.QQ").header.algorithm) != nil { read += 1 }
      if (try? JWTClaims(Self.altered(claims, &random))) != nil { read += 1 }
      if (try? JWK(Self.altered(key, &random))) != nil { read += 1 }
      if (try? JWKSet(Self.altered("{\"keys\":[\(key),\(key)]}", &random))) != nil { read += 1 }
      #expect(throws: JOSEError.self) { _ = try MACKey(SecretBytes(key)) }
    }
    #expect(read > 0)
  }

  @Test("addresses: what is accepted has a scheme, a host, a path, and nothing else")
  func addresses() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<Self.rounds {
      let text = Self.altered("https://[2001:db8::1]:8443/a/b;c?d=e#f", &random).text
      guard let target = try? HTTPTarget(text) else { continue }
      #expect(target.text.hasPrefix("https://") || target.text.hasPrefix("http://"), "\(text)")
      #expect(!target.text.contains("?") && !target.text.contains("#") && !target.text.contains("/../"))
      #expect(!target.text.dropFirst(8).prefix { $0 != "/" }.contains("@"), "\(text)")
      try expect(HTTPTarget(target.text), equals: target, "\(text)")
    }
  }
}
