package import PasswordDerivation
package import VaultCrypto
package import VaultKit

extension Argon2id.Parameters {
  /// Below every floor that real vaults accept: microseconds, for tests only.
  package static let cheap = Argon2id.Parameters(memoryKiB: 64, iterations: 1, parallelism: 1)
}

extension Argon2id.Bounds {
  /// The bounds of a test world. A vault that is made in a test world has a mark, so the tool refuses it.
  package static let cheap = Argon2id.Bounds(floor: .cheap, ceiling: Argon2id.Bounds.standard.ceiling)
}

extension VaultEnvironment {
  /// A world for tests, with a cheap derivation, and with a clock and a random source that a test can replace.
  package static func testing(
    clock: any VaultClock = SystemClock(), random: any RandomSource = SystemRandom(),
    derivationObserver: (@Sendable () -> Void)? = nil
  ) -> VaultEnvironment {
    VaultEnvironment(
      clock: clock, random: random, bounds: .cheap, parameters: .cheap, process: .current,
      derivationObserver: derivationObserver)
  }
}
