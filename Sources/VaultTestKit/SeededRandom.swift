import Synchronization
package import VaultCrypto

/// Random bytes that are the same for the same seed (xoshiro256**). For tests alone, because every program can draw
/// them too.
///
/// In a ``TestWorld`` with a ``FixedClock``, the same calls in the same order make the same ids and keys in each run.
/// Give each vault a value of its own: two that share one take bytes from each other.
public final class SeededRandom: Sendable {
  private let state: Mutex<[UInt64]>

  /// A source that begins with this seed.
  public init(seed: UInt64) {
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

  /// The same bytes for a ``VaultEnvironment``.
  package var source: any RandomSource { Source(random: self) }

  /// The next 64 bits.
  public func next() -> UInt64 {
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

  /// A number from 0 up to, but not including, `bound`.
  ///
  /// - Precondition: `bound` is greater than 0.
  public func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

private struct Source: RandomSource {
  let random: SeededRandom

  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: random.next() >> 33) }
  }
}
