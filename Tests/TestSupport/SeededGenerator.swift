import Foundation

/// The same bytes for the same seed, SplitMix64.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Other bytes in each run, which its log allows to repeat (``seedOfRun``).
  package init() { self.init(seed: Self.seedOfRun) }

  /// The seed of this run: `TORTURE_SEED` of the environment, or one that is drawn. The log has it.
  package static let seedOfRun: UInt64 = {
    let given = ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap(UInt64.init)
    let seed = given ?? UInt64.random(in: 1..<1_000_000)
    print("random choices: TORTURE_SEED=\(seed)")
    return seed
  }()

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
