import CArgon2
package import SecretMemory

/// A derivation that cannot fail any more: it has its memory, and lanes for which there are no threads run one after the other.
///
/// Who counts attempts prepares first, counts, and derives then: a counted attempt gets its verdict.
package struct PreparedArgon2id: ~Copyable {
  private let parameters: Argon2id.Parameters
  private let memory: Argon2Memory

  /// - Throws: ``DerivationError/parametersOutOfBounds`` before any work is done; ``DerivationError/outOfMemory``.
  package init(_ parameters: Argon2id.Parameters, bounds: Argon2id.Bounds) throws(DerivationError) {
    guard bounds.allow(parameters) else { throw .parametersOutOfBounds }
    let memory = try Argon2Memory(byteCount: Int(parameters.memoryKiB) << 10)
    self.parameters = parameters
    self.memory = memory
  }

  /// The key derived from `passcode`; the parameters are those of ``Argon2id/derive(from:salt:parameters:bounds:byteCount:secret:aad:)``.
  ///
  /// - Precondition: `salt` has 8 to 64 bytes, and `byteCount` is 4 to 1,024.
  package borrowing func derive(
    from passcode: borrowing SecretBytes, salt: [UInt8], byteCount: Int = 32, secret: [UInt8] = [],
    aad: [UInt8] = []
  ) -> SecretBytes {
    var key = SecretBytes(zeroes: byteCount)
    let result = unsafe key.modify { key in
      passcode.expose { passcode in
        unsafe passcode.withUnsafeBytes { passcode in
          unsafe salt.withUnsafeBytes { salt in
            unsafe secret.withUnsafeBytes { secret in
              unsafe aad.withUnsafeBytes { aad in
                unsafe fill(key, from: input(passcode, salt, secret, aad))
              }
            }
          }
        }
      }
    }
    precondition(result == 0, "PreparedArgon2id.derive: libargon2 does not take this input (\(result))")
    return key
  }

  private func fill(_ key: UnsafeMutableRawBufferPointer, from input: cargon2_input) -> Int32 {
    unsafe memory.lend { memory in
      unsafe withUnsafePointer(to: input) { input in
        let start = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe cargon2_derive(input, memory, start, UInt32(key.count))
      }
    }
  }

  private func input(
    _ passcode: UnsafeRawBufferPointer, _ salt: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer,
    _ aad: UnsafeRawBufferPointer
  ) -> cargon2_input {
    unsafe cargon2_input(
      memory_kib: parameters.memoryKiB, passes: parameters.iterations, lanes: parameters.parallelism,
      passcode: argument(passcode), salt: argument(salt), secret: argument(secret),
      associated_data: argument(aad))
  }
}

private func argument(_ bytes: UnsafeRawBufferPointer) -> cargon2_bytes {
  unsafe cargon2_bytes(
    start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: UInt32(bytes.count))
}
