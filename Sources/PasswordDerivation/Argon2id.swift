package import SecretMemory

/// The key made from a passcode or a passphrase: Argon2id (RFC 9106), version 0x13, computed by libargon2.
///
/// This is the front page of PasswordDerivation, the module that turns what a person types into a key. Each
/// derivation costs memory and time, and a guesser pays that price for every guess. The module knows no vault: the
/// modules above decide when to derive a key, with which parameters, and what for.
///
/// - ``PreparedArgon2id`` is one derivation that cannot fail any more, because it has its memory.
/// - ``derive(from:salt:parameters:bounds:byteCount:secret:aad:)`` prepares and derives in one call.
/// - ``Parameters`` say what one derivation costs: memory, passes and lanes.
/// - ``Bounds`` say which parameters are accepted.
/// - ``Argon2Memory`` is the memory.
/// - ``DerivationError`` says why there is no key.
///
/// Read this file first, then `PreparedArgon2id.swift`, then `CArgon2.c`, which says how threads are had.
package enum Argon2id {
  /// What one derivation costs.
  package struct Parameters: Sendable, Hashable {
    /// Memory in KiB.
    package var memoryKiB: UInt32
    /// Passes over the memory.
    package var iterations: UInt32
    /// Lanes, which can run side by side.
    package var parallelism: UInt32

    package init(memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) {
      self.memoryKiB = memoryKiB
      self.iterations = iterations
      self.parallelism = parallelism
    }

    /// 64 MiB, 3 passes, 4 lanes: the second choice of RFC 9106 §4.
    package static let standard = Parameters(memoryKiB: 64 << 10, iterations: 3, parallelism: 4)
  }

  /// Which parameters are accepted. The floor refuses a vault that was made weak, the ceiling one that would stall
  /// the program.
  package struct Bounds: Sendable, Hashable {
    package var floor: Parameters
    package var ceiling: Parameters

    package init(floor: Parameters, ceiling: Parameters) {
      self.floor = floor
      self.ceiling = ceiling
    }

    /// 19 MiB, 2 passes, 1 lane to 1 GiB, 16 passes, 64 lanes.
    package static let standard = Bounds(
      floor: Parameters(memoryKiB: 19 << 10, iterations: 2, parallelism: 1),
      ceiling: Parameters(memoryKiB: 1 << 20, iterations: 16, parallelism: 64))

    /// Whether each of the `parameters` is within the bounds, and Argon2 accepts them together.
    package func allow(_ parameters: Parameters) -> Bool {
      floor.memoryKiB...ceiling.memoryKiB ~= parameters.memoryKiB
        && floor.iterations...ceiling.iterations ~= parameters.iterations
        && floor.parallelism...ceiling.parallelism ~= parameters.parallelism
        && parameters.memoryKiB >= 8 * parameters.parallelism
    }
  }

  /// The key derived from `passcode`.
  ///
  /// - Parameters:
  ///   - salt: 8 to 64 bytes; 16 recommended (RFC 9106 §3.1).
  ///   - byteCount: The length of the key, 4 to 1,024 bytes.
  ///   - secret: The secret value K of RFC 9106 §3.1. No vault uses it; the test vectors do.
  ///   - aad: The associated data X of RFC 9106 §3.1, likewise.
  /// - Throws: ``DerivationError/parametersOutOfBounds`` before any work is done; ``DerivationError/outOfMemory``.
  package static func derive(
    from passcode: borrowing SecretBytes, salt: [UInt8], parameters: Parameters, bounds: Bounds = .standard,
    byteCount: Int = 32, secret: [UInt8] = [], aad: [UInt8] = []
  ) throws(DerivationError) -> SecretBytes {
    guard 8...64 ~= salt.count, 4...1024 ~= byteCount else { throw .parametersOutOfBounds }
    return try PreparedArgon2id(parameters, bounds: bounds).derive(
      from: passcode, salt: salt, byteCount: byteCount, secret: secret, aad: aad)
  }
}
