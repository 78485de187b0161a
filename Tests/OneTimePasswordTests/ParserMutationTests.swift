import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("Parsers under mutated input", .bounded)
struct ParserMutationTests {
  static let uris = [
    "otpauth://totp/ACME%20Co:john.doe@email.com?secret=\(rfcKeyText)&issuer=ACME%20Co&algorithm=SHA1&digits=6&period=30",
    "otpauth://hotp/A:b?secret=\(rfcKeyText)&counter=18446744073709551615&algorithm=SHA512&digits=8",
    "otpauth://totp/Steam:g?secret=\(rfcKeyText)&encoder=steam&digits=5",
    "otpauth://steam/x:y:z?secret=\(rfcKeyText)",
    "otpauth://totp/%C3%A4:%F0%9F%99%82?secret=GEZD+GNBV-GY3T%20QOJQ%3D&issuer=%C3%A4&image=x",
  ]

  @Test("100,000 mutated URIs: an error or a URI that is written and read as the same")
  func uris() throws {
    var random = SeededGenerator(seed: 6287)
    var acceptedCount = 0
    for _ in 0..<100_000 {
      let mutated = Self.mutate(Array(Self.uris.randomElement(using: &random)!.utf8), using: &random)
      do {
        let uri = try OTPAuthURI(parsing: secret(mutated))
        acceptedCount += 1
        try expectFixpoint(uri)
      } catch is OTPError {
        continue
      }
    }
    // Neither everything nor nothing may come through, or the test looks at one branch only.
    #expect((10_000...90_000).contains(acceptedCount), "\(acceptedCount) accepted")
  }

  @Test(
    "100,000 mutated Base32 texts: an error at a place inside, or bytes that are written and read as the same"
  )
  func base32() throws {
    var random = SeededGenerator(seed: 4648)
    var acceptedCount = 0
    for _ in 0..<100_000 {
      let length = Int.random(in: 0...24, using: &random)
      let original = (0..<length).map { _ in "ABCdef234567 -=".utf8.randomElement(using: &random)! }
      let mutated = Self.mutate(original, count: 0...1, using: &random)
      do {
        let decoded = try Base32.decode(secret(mutated))
        acceptedCount += 1
        let again = try Base32.decode(Base32.encode(decoded))
        let isSame = again.isEqualInConstantTime(to: decoded)
        #expect(isSame)
      } catch {
        expect(error.code, equals: .invalidBase32)
        let position = try #require(error.position)
        #expect((0...mutated.count).contains(position))
      }
    }
    #expect((10_000...90_000).contains(acceptedCount), "\(acceptedCount) accepted")
  }

  private static func mutate(
    _ original: [UInt8], count: ClosedRange<Int> = 1...3, using random: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: count, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      let byte =
        Bool.random(using: &random)
        ? UInt8.random(in: 0...255, using: &random) : "%&=?/:#+ A2fF".utf8.randomElement(using: &random)!
      switch Int.random(in: 0...5, using: &random) {
      case 0 where place < bytes.count: bytes[place] = byte
      case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2 where place < bytes.count: bytes.remove(at: place)
      case 3 where Int.random(in: 0...9, using: &random) == 0: bytes.removeLast(bytes.count - place)
      case 4:
        let end = min(bytes.count, place + 12)
        bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
      default: bytes.insert(byte, at: place)
      }
    }
    return bytes
  }
}
