import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a PIN is trimmed before it is judged, and when only its length is.
@Suite("PINs", .bounded, .requirement("A3"))
struct PINTests {
  @Test("4 to 6 ASCII digits are a PIN", arguments: ["0000", "12345", "999999"])
  func accepted(text: String) throws { _ = try PIN(SecretBytes(testing: text)) }

  @Test(
    "anything else is refused, and left as it is",
    arguments: [
      "123", "1234567", "12a4", "", "    ", "1234 ", " 1234", "1234\n", "\u{661}\u{662}\u{663}\u{664}",
      "\u{FF11}\u{FF12}\u{FF13}\u{FF14}", "12\u{0}4", "+123", "-123", "12.4",
      String(repeating: "1", count: 1 << 20),
    ])
  func refused(text: String) {
    expect(.pinRefused) { () throws(VaultError) in _ = try PIN(SecretBytes(testing: text)) }
  }

  @Test("a policy widens or narrows the length, up to 16 digits")
  func policy() throws {
    let long = try PINPolicy(lengths: 8...16)
    _ = try PIN(SecretBytes(testing: "1234567890123456"), policy: long)
    expect(.pinRefused) { () throws(VaultError) in _ = try PIN(SecretBytes(testing: "1234"), policy: long) }
    for lengths in [0...4, 4...17] {
      expect(.malformed) { () throws(VaultError) in _ = try PINPolicy(lengths: lengths) }
    }
  }
}
