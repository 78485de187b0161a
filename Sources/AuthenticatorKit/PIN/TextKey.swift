import SecretMemory
import VaultKit

/// Keys that show whether a mask was taken off rightly, because they are text: a wrong PIN gives bytes that are none.
enum TextKey {
  /// Whether a key is printable UTF-8, perhaps with white space such as the newline of a file. Of random keys with
  /// 10 bytes, less than one in 1,000 is; of those with 20 bytes, one in a million.
  static func matches(_ key: borrowing SecretBytes) -> Bool {
    key.expose { bytes in
      var offset = 0
      while offset < bytes.byteCount {
        guard let count = lengthOfCharacter(at: offset, in: bytes) else { return false }
        offset += count
      }
      return true
    }
  }

  /// - Throws: ``VaultError/Code/policy`` for a key that is text, which must not be behind a camouflaged PIN.
  static func refuseMasking(_ key: borrowing SecretBytes) throws(VaultError) {
    guard matches(key) else { return }
    throw VaultError(
      .policy, "a key that is text cannot be behind a camouflaged PIN: it would tell which PIN is right",
      hint: "have the server make a random key, or use a checked PIN")
  }

  /// How many bytes a character has (RFC 3629); nil where none is, or one that no text has.
  private static func lengthOfCharacter(at offset: Int, in bytes: RawSpan) -> Int? {
    let first = bytes.byte(at: offset)
    switch first {
    case 0x20...0x7E, 0x09...0x0D: return 1
    case 0xC2...0xDF: return continues(1, after: offset, in: bytes)
    case 0xE0...0xEF: return continues(2, after: offset, in: bytes)
    case 0xF0...0xF4: return continues(3, after: offset, in: bytes)
    default: return nil
    }
  }

  /// - Returns: The length of the character; nil without so many bytes that continue it.
  private static func continues(_ count: Int, after offset: Int, in bytes: RawSpan) -> Int? {
    guard offset + count < bytes.byteCount else { return nil }
    return (1...count).allSatisfy { 0x80...0xBF ~= bytes.byte(at: offset + $0) } ? count + 1 : nil
  }
}
