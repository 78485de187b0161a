import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("Base32", .bounded)
struct Base32Tests {
  @Test(
    "the examples of RFC 4648 are read, with and without padding, and written without",
    arguments: [
      ("", ""), ("f", "MY======"), ("fo", "MZXQ===="), ("foo", "MZXW6==="), ("foob", "MZXW6YQ="),
      ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI======"),
    ])
  func published(plain: String, encoded: String) throws {
    let bare = encoded.filter { $0 != "=" }
    try expect(text(of: Base32.decode(secret(encoded))), equals: plain)
    try expect(text(of: Base32.decode(secret(bare))), equals: plain)
    try expect(text(of: Base32.decode(secret(bare.lowercased()))), equals: plain)
    expect(text(of: Base32.encode(secret(plain))), equals: bare)
  }

  @Test(
    "spaces, dashes, mixed case and padding change nothing",
    arguments: [
      "gezd gnbv gy3t qojq gezd gnbv gy3t qojq", "GEZDGNBV-GY3TQOJQ-GEZDGNBV-GY3TQOJQ",
      " GeZdGnBvGy3TqOjQgEzDgNbVgY3tQoJq ", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ======",
      "- GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ = = =",
    ])
  func tolerated(_ spelling: String) throws {
    try expect(text(of: Base32.decode(secret(spelling))), equals: "12345678901234567890")
  }

  @Test(
    "an alien character is refused at its place",
    arguments: [
      ("GEZ1", 3), ("0EZD", 0), ("GE8D", 2), ("GEZÄ", 3), ("GE_D", 2), ("GE\u{0}D", 2),
      ("GE@D", 2),
      ("GE[D", 2), ("GE`D", 2), ("GE{D", 2), ("GE/D", 2), ("GE\u{7f}D", 2), ("MY=A", 3), ("MY=======", 8),
    ])
  func alien(_ spelling: String, position: Int) {
    #expect(throws: OTPError.invalidBase32(position: position)) { _ = try Base32.decode(secret(spelling)) }
  }

  @Test(
    "a text that lost a character is refused", arguments: ["G", "GEZ", "GEZDGN", "GEZDGNBVG", "GEZ====="])
  func truncated(_ spelling: String) {
    #expect(throws: OTPError.invalidBase32(position: spelling.utf8.count)) {
      _ = try Base32.decode(secret(spelling))
    }
  }

  @Test("bits that belong to no byte are dropped, as every authenticator does")
  func trailingBits() throws {
    try expect(text(of: Base32.decode(secret("MZ"))), equals: "f")
    try expect(text(of: Base32.decode(secret("MY"))), equals: "f")
  }

  @Test("every byte value is either one of the 32 characters, tolerated, or refused")
  func everyByte() throws {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    for byte in UInt8.min...UInt8.max {
      let upper = (0x61...0x7a).contains(byte) ? byte - 0x20 : byte
      let decoded = try? bytes(of: Base32.decode(secret([0x41, byte])))
      switch alphabet.firstIndex(of: upper) {
      case let index?: expect(decoded, equals: [UInt8(index >> 2)])
      case nil: #expect(decoded == nil, "byte \(byte)")
      }
    }
  }

  @Test("what is written is read as the same bytes, for every length")
  func roundTrips() throws {
    var random = SeededGenerator(seed: 32)
    for length in 0...300 {
      let plain = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let encoded = Base32.encode(secret(plain))
      #expect(encoded.byteCount == (length * 8 + 4) / 5)
      expect(bytes(of: try Base32.decode(encoded)), equals: plain)
    }
  }

  @Test("a text of more than 1 MiB is refused")
  func tooLong() throws {
    let long = secret(repeatElement(UInt8(ascii: "A"), count: Base32.maximumTextByteCount + 1))
    #expect(throws: OTPError.secretTooLong) { _ = try Base32.decode(long) }
    let longest = secret(repeatElement(UInt8(ascii: "A"), count: Base32.maximumTextByteCount))
    let byteCount = try Base32.decode(longest).byteCount
    expect(byteCount, equals: 655_360)
  }
}
