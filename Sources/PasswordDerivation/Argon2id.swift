import CArgon2
package import SecretMemory

/// The key made from a passcode or a passphrase: Argon2id (RFC 9106), version 0x13, computed by libargon2.
///
/// This module turns what a person types into a key, at a price: each derivation takes memory and time that a guesser
/// has to pay for every guess. It knows no vault. Who derives when, with which parameters and what becomes of the key
/// is the business of the modules above.
///
/// - ``Argon2id`` is the derivation: one function, ``derive(from:salt:parameters:bounds:byteCount:secret:aad:)``.
/// - ``Parameters`` say what one derivation costs: memory, passes and lanes.
/// - ``Bounds`` say which parameters are accepted. They refuse a file whose parameters make a vault weak, or
///   make this program stall.
/// - ``Argon2Memory`` gives libargon2 its work memory: large pages, locked where possible, in no core dump.
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

  /// The parameters that are accepted: a floor against a vault made weak, a ceiling against one made to stall.
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

    /// Whether `parameters` lie within the bounds, each by itself, and are ones that Argon2 knows.
    package func allow(_ parameters: Parameters) -> Bool {
      floor.memoryKiB...ceiling.memoryKiB ~= parameters.memoryKiB
        && floor.iterations...ceiling.iterations ~= parameters.iterations
        && floor.parallelism...ceiling.parallelism ~= parameters.parallelism
        && parameters.memoryKiB >= 8 * parameters.parallelism
    }
  }

  /// A key made from `passcode`.
  ///
  /// - Parameters:
  ///   - salt: 8 to 64 bytes; 16 recommended (RFC 9106 §3.1).
  ///   - byteCount: The length of the key, 4 to 1,024 bytes.
  ///   - secret: The secret value K of RFC 9106 §3.1, which no vault uses: its vectors do.
  ///   - aad: The associated data X, likewise.
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
        var context = unsafe argon2_context()
        unsafe context.t_cost = parameters.iterations
        unsafe context.m_cost = parameters.memoryKiB
        unsafe context.lanes = parameters.parallelism
        unsafe context.threads = parameters.parallelism
        unsafe context.version = ARGON2_VERSION_13.rawValue
        unsafe context.allocate_cbk = { unsafe Argon2Memory.allocate($0, $1) }
        unsafe context.free_cbk = { unsafe Argon2Memory.free($0, $1) }
        unsafe context.flags = 0  // the passcode is the caller's: it is not ours to clear
        unsafe (context.out, context.outlen) = unsafe (input(UnsafeRawBufferPointer(key)), UInt32(key.count))
        return unsafe passcode.withUnsafeBytes { passcode in
          unsafe salt.withUnsafeBytes { salt in
            unsafe secret.withUnsafeBytes { secret in
              unsafe aad.withUnsafeBytes { aad in
                unsafe (context.pwd, context.pwdlen) = unsafe (input(passcode), UInt32(passcode.count))
                unsafe (context.salt, context.saltlen) = unsafe (input(salt), UInt32(salt.count))
                unsafe (context.secret, context.secretlen) = unsafe (input(secret), UInt32(secret.count))
                unsafe (context.ad, context.adlen) = unsafe (input(aad), UInt32(aad.count))
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

  /// libargon2 declares what it only reads as mutable.
  private static func input(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    guard unsafe !bytes.isEmpty, let start = bytes.baseAddress else { return nil }
    return unsafe UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self)
  }
}

/// The one turning point of libargon2's results into errors.
private func check(argon2 result: Int32) throws(DerivationError) {
  switch result {
  case ARGON2_OK.rawValue: return
  case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue, ARGON2_THREAD_FAIL.rawValue: throw .outOfMemory
  default: throw .parametersOutOfBounds
  }
}
