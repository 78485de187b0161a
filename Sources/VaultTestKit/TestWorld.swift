package import PasswordDerivation
package import VaultCrypto
package import VaultKit

extension Argon2id.Parameters {
  /// Below every floor that real vaults accept: microseconds, for tests only.
  package static let cheap = Argon2id.Parameters(memoryKiB: 64, iterations: 1, parallelism: 1)
}

extension Argon2id.Bounds {
  /// The bounds of a test world. A vault made in one is marked, and `vaultctl` refuses it.
  package static let cheap = Argon2id.Bounds(floor: .cheap, ceiling: Argon2id.Bounds.standard.ceiling)
}

extension VaultEnvironment {
  /// A world for tests: a cheap derivation, and clock and randomness that can be fixed.
  package static func testing(
    clock: any VaultClock = SystemClock(), random: any RandomSource = SystemRandom(),
    derivationObserver: (@Sendable () -> Void)? = nil
  ) -> VaultEnvironment {
    VaultEnvironment(
      clock: clock, random: random, bounds: .cheap, parameters: .cheap, caller: .current,
      derivationObserver: derivationObserver)
  }
}
