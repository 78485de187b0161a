import CLinux

/// getrandom(2), which waits until the kernel is seeded; the kernel's device where a filter denies it. This process keeps no state that could leak or be copied.
enum KernelRandom {
  static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    var rest = unsafe bytes
    while unsafe !rest.isEmpty {
      let count = min(rest.count, 256)  // the most that one call gives
      guard unsafe clinux_random(rest.baseAddress, count) == 0 else { throw .randomUnavailable }
      unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[count...])
    }
  }
}
