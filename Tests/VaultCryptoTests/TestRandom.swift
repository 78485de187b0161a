import Synchronization
import VaultCrypto

/// A generator that fails: nothing may be sealed with it.
struct FailingRandom: RandomSource {
  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    throw .randomUnavailable
  }
}

/// A generator that gives the same bytes at each call: a machine that was cloned, or broken.
struct RepeatingRandom: RandomSource {
  var byte: UInt8 = 0x5a

  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: byte)
  }
}

/// Counts how often it is asked.
final class CountingRandom: RandomSource {
  private let count = Atomic<Int>(0)
  var calls: Int { count.load(ordering: .relaxed) }

  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    count.add(1, ordering: .relaxed)
    try unsafe SystemRandom().fill(bytes)
  }
}
