import COpenSSL

/// OpenSSL's generators, seeded by the kernel: the private one for keys, the public one, through a pool, for
/// salts and nonces.
package struct SystemRandom: RandomSource {
  package init() {}

  package func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    if try unsafe RandomPool.fill(bytes) { return }
    OpenSSL.start
    try unsafe check(
      RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)),
      orThrow: .randomUnavailable)
  }

  package func fillKey(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    OpenSSL.start
    try unsafe check(
      RAND_priv_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)),
      orThrow: .randomUnavailable)
  }
}
