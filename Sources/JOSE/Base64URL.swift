package import SecretMemory
import TextFormats

/// Base64 with `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2), with this module's errors.
package enum Base64URL {
  /// How many characters `byteCount` bytes have.
  package static func characterCount(of byteCount: Int) -> Int {
    Base64.characterCount(of: byteCount, as: .url)
  }

  /// Appends four characters for each three bytes, and two or three for the rest.
  package static func encode(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    Base64.encode(bytes, as: .url, into: &output)
  }

  /// The characters of bytes that are not secret.
  package static func text(_ bytes: [UInt8]) -> String { Base64.text(bytes, as: .url) }

  /// The bytes that the characters are: no padding, no spaces, no other alphabet, unused bits zero.
  ///
  /// - Throws: ``JOSEError/malformed(_:)``.
  package static func decode(_ text: RawSpan) throws(JOSEError) -> SecretBytes {
    do throws(TextError) { return try Base64.decoded(text, as: .url) } catch {
      throw .malformed("a part of the token is not base64url")
    }
  }

  /// The bytes of a text that is not secret.
  ///
  /// - Throws: ``JOSEError/malformed(_:)``.
  package static func bytes(_ text: String) throws(JOSEError) -> [UInt8] {
    try unsafe decode(Array(text.utf8).span.bytes).expose { $0.copied }
  }
}

extension RawSpan {
  /// The bytes as an array, for what is not secret.
  var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
