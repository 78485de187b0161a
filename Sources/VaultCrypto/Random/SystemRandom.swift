import COpenSSL
import Glibc

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

/// getrandom(2), which waits until the kernel has been seeded; no state of ours that could leak or be copied.
enum KernelRandom {
  static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    var rest = unsafe bytes
    while unsafe !rest.isEmpty {
      let count = min(rest.count, 256)  // the most that one call gives
      guard unsafe getentropy(rest.baseAddress, count) == 0 else { throw .randomUnavailable }
      unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[count...])
    }
  }
}

/// OpenSSL's public generator, seeded by the kernel and reseeded in a child made by `fork`.
enum LibraryRandom {
  static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    guard let count = Int32(exactly: bytes.count) else { throw .tooLarge }
    OpenSSL.start
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    try unsafe check(RAND_bytes(start, count), orThrow: .randomUnavailable)
  }
}
