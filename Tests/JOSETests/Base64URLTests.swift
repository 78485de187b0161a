import JOSE
import SecretMemory
import TestSupport
import Testing

@Suite("Base64url", .bounded)
struct Base64URLTests {
  @Test("bytes of every length come back, without padding")
  func lengths() throws {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 250) }
      let text = Base64URL.text(bytes)
      #expect(text.utf8.count == Base64URL.characterCount(of: count) && !text.contains("="))
      try expect(Base64URL.bytes(text), equals: bytes)
    }
    #expect(Base64URL.text([0xFB, 0xFF, 0xBF]) == "-_-_" && Base64URL.text([]) == "")
  }

  /// Verified to fail when unused bits are not compared.
  @Test(
    "padding, spaces, another alphabet, a single character and unused bits are refused",
    arguments: ["AA==", "A", "AAAAA", "AA A", "AA\nA", "+AAA", "/AAA", "AB", "AAB", "AAAé", "AA\u{0}A"])
  func malformed(text: String) {
    #expect(throws: JOSEError.self) { _ = try Base64URL.bytes(text) }
  }
}
