import COpenSSL

/// OpenSSL's public generator, seeded by the kernel and reseeded in a child made by `fork`.
enum LibraryRandom {
  static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    guard let count = Int32(exactly: bytes.count) else { throw .tooLarge }
    OpenSSL.start
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    try unsafe check(RAND_bytes(start, count), orThrow: .randomUnavailable)
  }
}
