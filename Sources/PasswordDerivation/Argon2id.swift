import CArgon2
package import SecretMemory

/// The key made from a passcode or a passphrase: Argon2id (RFC 9106), version 0x13, computed by libargon2.
///
/// This is the front page of PasswordDerivation, the module that turns what a person types into a key. Each
/// derivation costs memory and time, and a guesser pays that price for every guess. The module knows no vault: the
/// modules above decide when to derive a key, with which parameters, and what for.
///
/// - ``derive(from:salt:parameters:bounds:byteCount:secret:aad:)`` is the derivation.
/// - ``Parameters`` say what one derivation costs: memory, passes and lanes.
/// - ``Bounds`` say which parameters are accepted.
/// - ``Argon2Memory`` gives libargon2 its work memory.
/// - ``DerivationError`` says why there is no key.
///
/// Read this file first, then `Argon2Memory.swift`.
package enum Argon2id {
  /// What one derivation costs.
  package struct Parameters: Sendable, Hashable {
    /// Memory in KiB.
    package var memoryKiB: UInt32
    /// Passes over the memory.
    package var iterations: UInt32
    /// Lanes, each on a thread of its own.
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
    guard bounds.allow(parameters), 8...64 ~= salt.count, 4...1024 ~= byteCount else {
      throw .parametersOutOfBounds
    }
    var key = SecretBytes(zeroes: byteCount)
    let result = unsafe key.modify { key in
      passcode.expose { passcode in
        unsafe passcode.withUnsafeBytes { passcode in
          unsafe salt.withUnsafeBytes { salt in
            unsafe secret.withUnsafeBytes { secret in
              unsafe aad.withUnsafeBytes { aad in
                var context = unsafe context(for: parameters)
                unsafe (context.out, context.outlen) = unsafe argument(UnsafeRawBufferPointer(key))
                unsafe (context.pwd, context.pwdlen) = unsafe argument(passcode)
                unsafe (context.salt, context.saltlen) = unsafe argument(salt)
                unsafe (context.secret, context.secretlen) = unsafe argument(secret)
                unsafe (context.ad, context.adlen) = unsafe argument(aad)
                return unsafe argon2id_ctx(&context)
              }
            }
          }
        }
      }
    }
    try check(argon2: result)
    return key
  }

  private static func context(for parameters: Parameters) -> argon2_context {
    var context = unsafe argon2_context()
    unsafe context.t_cost = parameters.iterations
    unsafe context.m_cost = parameters.memoryKiB
    unsafe context.lanes = parameters.parallelism
    unsafe context.threads = parameters.parallelism
    unsafe context.version = ARGON2_VERSION_13.rawValue
    unsafe context.allocate_cbk = { unsafe Argon2Memory.allocate($0, $1) }
    unsafe context.free_cbk = { unsafe Argon2Memory.free($0, $1) }
    unsafe context.flags = 0  // libargon2 must not wipe the passcode, which the caller owns
    return unsafe context
  }

  /// The address and the byte count of `bytes`. libargon2 declares its input as mutable, and only reads it.
  private static func argument(
    _ bytes: UnsafeRawBufferPointer
  ) -> (start: UnsafeMutablePointer<UInt8>?, count: UInt32) {
    let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
    return unsafe (bytes.isEmpty ? nil : start?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
  }
}

/// Turns a result of libargon2 into an error. No other code does.
private func check(argon2 result: Int32) throws(DerivationError) {
  switch result {
  case ARGON2_OK.rawValue: return
  case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue, ARGON2_THREAD_FAIL.rawValue: throw .outOfMemory
  default: throw .parametersOutOfBounds
  }
}
