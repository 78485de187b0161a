/// What both seals begin with, and what they are held to (docs/format/vault-file.md, section 4).
enum SealFormat {
  static let version: UInt8 = 1
  static var committingSuite: UInt8 { 1 }
  static var recordSuite: UInt8 { 2 }
  static var tagByteCount: Int { CipherContext.tagByteCount }
  static var maximumPlaintextByteCount: Int { 16 << 20 }

  /// Refuses what is not a seal of this version and of `suite` with `headerByteCount` bytes before the ciphertext.
  static func check(
    _ sealed: UnsafeRawBufferPointer, suite: UInt8, headerByteCount: Int
  ) throws(CryptoError) {
    guard sealed.count >= 2 else { throw .malformed }
    // No version is 0: that is a part of a file that was filled with zeros.
    guard unsafe sealed[0] != 0, unsafe sealed[1] != 0 else { throw .malformed }
    guard unsafe sealed[0] == version, unsafe sealed[1] == suite else {
      throw unsafe .unsupported(version: sealed[0], suite: sealed[1])
    }
    let plaintextByteCount = sealed.count - headerByteCount - tagByteCount
    // A longer one was not made here.
    guard 0...maximumPlaintextByteCount ~= plaintextByteCount else { throw .malformed }
  }
}
