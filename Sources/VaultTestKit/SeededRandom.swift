import Synchronization
package import VaultCrypto

/// Random bytes that are the same for the same seed (xoshiro256**). For tests and example files, never for keys.
package final class SeededRandom: RandomSource {
  private let state: Mutex<[UInt64]>

  package init(seed: UInt64) {
    var word = seed
    let words = (0..<4).map { _ in
      word &+= 0x9E37_79B9_7F4A_7C15
      var mixed = word
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    state = Mutex(words)
  }

  package func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: next() >> 33) }
  }

  /// The next 64 bits.
  package func next() -> UInt64 {
    state.withLock { words in
      let scrambled = words[1] &* 5
      let result = (scrambled << 7 | scrambled >> 57) &* 9
      let shifted = words[1] << 17
      words[2] ^= words[0]
      words[3] ^= words[1]
      words[1] ^= words[2]
      words[0] ^= words[3]
      words[2] ^= shifted
      words[3] = words[3] << 45 | words[3] >> 19
      return result
    }
  }

  /// A number below `bound`.
  package func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
