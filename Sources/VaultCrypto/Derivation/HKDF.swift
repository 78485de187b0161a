import COpenSSL
package import SecretMemory

/// HKDF-SHA256 (RFC 5869), extract and expand in one call.
package enum HKDF {
  /// The most that one call derives, in bytes (RFC 5869 §2.3).
  package static var maximumByteCount: Int { 255 * 32 }

  /// A key of `byteCount` bytes whose info is exactly the bytes of `label`.
  package static func derive(
    from key: borrowing SecretBytes, salt: [UInt8] = [], label: Label, byteCount: Int = 32
  ) -> SecretBytes {
    derive(from: key, salt: salt, info: label.utf8, byteCount: byteCount)
  }

  /// A key of `byteCount` bytes.
  ///
  /// - Parameters:
  ///   - key: The input keying material, of any length.
  ///   - salt: Empty means 32 zero bytes (RFC 5869 §2.2).
  /// - Precondition: `byteCount` is 0 to ``maximumByteCount``.
  package static func derive(
    from key: borrowing SecretBytes, salt: [UInt8] = [], info: [UInt8], byteCount: Int
  ) -> SecretBytes {
    key.expose { derive(from: $0, salt: salt, info: info, byteCount: byteCount) }
  }

  /// A key whose input keying material is the bytes of `first` and then those of `second`.
  package static func derive(
    from first: borrowing SecretBytes, and second: borrowing SecretBytes, salt: [UInt8] = [], info: [UInt8],
    byteCount: Int
  ) -> SecretBytes {
    derive(from: SecretBytes.joining(first, second), salt: salt, info: info, byteCount: byteCount)
  }

  private static func derive(from key: RawSpan, salt: [UInt8], info: [UInt8], byteCount: Int) -> SecretBytes {
    var derived = SecretBytes(zeroes: byteCount)
    unsafe derived.modify { output in
      unsafe key.withUnsafeBytes { key in
        unsafe salt.withUnsafeBytes { salt in
          unsafe info.withUnsafeBytes { unsafe derive(key: key, salt: salt, info: $0, into: output) }
        }
      }
    }
    return derived
  }

  /// Fills `output` with derived bytes.
  static func derive(
    key: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(output.count <= maximumByteCount, "HKDF.derive: more than 8,160 bytes")
    unsafe withUnsafeTemporaryAllocation(of: SHA256_CTX.self, capacity: 4) { contexts in
      let midstates = contexts.baseAddress!
      let work = unsafe midstates + 2
      let block = unsafe UnsafeMutableRawPointer(midstates + 3)
      unsafe HMACCore<SHA256Core>.absorb(key: salt, into: midstates)
      unsafe HMACCore<SHA256Core>.authenticate(midstates, work: work, into: block) {
        unsafe SHA256Core.update($0, with: key)
      }
      let pseudorandomKey = unsafe UnsafeRawBufferPointer(start: block, count: 32)
      unsafe HMACCore<SHA256Core>.absorb(key: pseudorandomKey, into: midstates)
      unsafe expand(midstates, work: work, block: block, info: info, into: output)
      unsafe wipe(UnsafeMutableRawBufferPointer(contexts))
    }
  }

  private static func expand(
    _ midstates: UnsafePointer<SHA256_CTX>, work: UnsafeMutablePointer<SHA256_CTX>,
    block: UnsafeMutableRawPointer, info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) {
    var written = 0
    var number: UInt8 = 1
    while written < output.count {
      unsafe HMACCore<SHA256Core>.authenticate(midstates, work: work, into: block) { context in
        if written > 0 {
          unsafe SHA256Core.update(context, with: UnsafeRawBufferPointer(start: block, count: 32))
        }
        unsafe SHA256Core.update(context, with: info)
        unsafe withUnsafeBytes(of: number) { unsafe SHA256Core.update(context, with: $0) }
      }
      let count = min(32, output.count - written)
      unsafe (output.baseAddress! + written).copyMemory(from: block, byteCount: count)
      written += count
      number &+= 1
    }
  }
}
