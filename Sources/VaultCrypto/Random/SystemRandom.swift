/// The generators of this system: the kernel's for keys, a pool in front of OpenSSL's for salts and nonces.
package struct SystemRandom: RandomSource {
  package init() {}

  package func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    if try unsafe RandomPool.fill(bytes) { return }
    try unsafe LibraryRandom.fill(bytes)
  }

  package func fillKey(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    try unsafe KernelRandom.fill(bytes)
  }
}
