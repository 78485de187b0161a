package import SecretMemory

/// The plain AES-256-GCM layer under the seals, for published vectors and benchmarks. The vault never calls it,
/// because a caller of a seal never chooses an IV.
package struct AESGCM: ~Copyable {
  private let sealing: CipherContext
  private let opening: CipherContext

  /// - Parameter key: 32 bytes, whose schedule is kept.
  package init(key: borrowing SecretBytes) throws(CryptoError) {
    let sealing = try CipherContext(.seal, key: key)
    let opening = try CipherContext(.open, key: key)
    self.sealing = sealing
    self.opening = opening
  }

  /// Writes ciphertext and tag to `output`, which has 16 bytes more than `plaintext`; `iv` is 12 bytes.
  package func seal(
    _ plaintext: UnsafeRawBufferPointer, iv: UnsafeRawPointer, aad: UnsafeRawBufferPointer? = nil,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    try unsafe sealing.seal(plaintext, iv: iv, aad: parts(aad), into: output)
  }

  /// Writes the plaintext of ciphertext and tag to `output`, which has 16 bytes less than `sealed`.
  package func open(
    _ sealed: UnsafeRawBufferPointer, iv: UnsafeRawPointer, aad: UnsafeRawBufferPointer? = nil,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    try unsafe opening.open(sealed, iv: iv, aad: parts(aad), into: output)
  }

  private func parts(_ aad: UnsafeRawBufferPointer?) -> CipherContext.Parts {
    unsafe aad.map { unsafe CipherContext.Parts(first: $0) } ?? CipherContext.Parts()
  }
}
