package import SecretMemory

/// Where random bytes come from: the generators of the system, or fixed bytes in tests.
package protocol RandomSource: Sendable {
  /// Fills all of `bytes`, or throws.
  ///
  /// - Throws: ``CryptoError/randomUnavailable``. The caller then seals or generates nothing.
  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError)

  /// Fills `bytes` for use as a key. The same as ``fill(_:)``, unless the source has a separate generator for keys.
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
