package import PasswordDerivation
package import VaultCrypto
package import VaultKit

/// What a test replaces in the world of a vault: the clock, the random bytes, the cost of key derivations.
///
/// ```swift
/// let clock = FixedClock()
/// let place = TemporaryVault(TestWorld(clock: clock, random: SeededRandom(seed: 1)))
/// ```
///
/// With cheap derivations or seeded random bytes, a vault protects nothing. Its header says so from the first commit
/// on, and so do its backups. ``Vault/open(at:protector:)``, every other call of VaultKit and the command-line tool
/// refuse such a file with ``VaultError/Code/policy``; only the calls of this module open it. A vault of the real world
/// that a test changes with cheap derivations or seeded random bytes becomes such a vault.
public struct TestWorld: Sendable {
  /// What a key derivation costs.
  public struct Derivation: Sendable, Equatable {
    fileprivate let parameters: Argon2id.Parameters
    fileprivate let bounds: Argon2id.Bounds

    /// Microseconds. The passcode can be guessed at once.
    public static let cheap = Derivation(parameters: .cheap, bounds: .cheap)
    /// The cost of a real vault: 64 MiB, tens of milliseconds.
    public static let standard = Derivation(parameters: .standard, bounds: .standard)
  }

  package let environment: VaultEnvironment

  /// A world. With `random: nil` and standard derivations, its vaults are ordinary ones, which every program opens.
  ///
  /// - Parameters:
  ///   - clock: `nil` for the clocks of this machine.
  ///   - random: `nil` for the random bytes of the system.
  ///   - derivation: What a key derivation costs.
  public init(clock: FixedClock? = nil, random: SeededRandom? = nil, derivation: Derivation = .cheap) {
    var environment = VaultEnvironment(bounds: derivation.bounds, parameters: derivation.parameters)
    if let clock { environment.clock = clock }
    if let random { environment.random = random.source }
    if derivation.bounds != .standard { environment.rotation = .small }
    self.environment = environment
  }
}

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
    var environment = VaultEnvironment(
      clock: clock, random: random, bounds: .cheap, parameters: .cheap, process: .current,
      derivationObserver: derivationObserver)
    environment.pause = { _ in }
    environment.rotation = .small
    return environment
  }
}
