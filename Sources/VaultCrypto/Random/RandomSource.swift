package import SecretMemory

/// Where random bytes come from: the system's generator, or a fixed one in tests.
package protocol RandomSource: Sendable {
  /// Fills `bytes`, all of it or none.
  ///
  /// - Throws: ``CryptoError/randomUnavailable``; nothing is then sealed or made.
  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError)

  /// Fills `bytes` for use as a key. The same as ``fill(_:)`` unless the source keeps a generator of its own for
  /// keys.
  func fillKey(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError)
}

extension RandomSource {
  package func fillKey(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    try unsafe fill(bytes)
  }

  /// `count` random bytes for a public value: an id, a salt.
  package func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    try unsafe [UInt8](count: count) { (bytes) throws(CryptoError) in try unsafe fill(bytes) }
  }

  /// `count` random bytes for a key, written straight into secret memory.
  package func secret(_ count: Int) throws(CryptoError) -> SecretBytes {
    var secret = SecretBytes(zeroes: count)
    try unsafe secret.modify { (bytes) throws(CryptoError) in try unsafe fillKey(bytes) }
    return secret
  }
}
