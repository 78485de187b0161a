import COpenSSL

extension KeyedHMAC {
  /// The code of a counter, hashed as 8 bytes, big-endian (RFC 4226 §5.2), cut down to 31 bits by dynamic
  /// truncation (RFC 4226 §5.3; for longer hash values the last byte gives the offset, RFC 6238 §1.2).
  ///
  /// - Complexity: For SHA-1 two calls of the compression function, no allocation.
  package func truncatedCode(forCounter counter: UInt64) -> UInt32 {
    guard algorithm == .sha1 else { return truncatedLongCode(counter) }
    return unsafe withMidstates(of: SHA1Core.self) { midstates in
      unsafe SHA1Counter.withCode(midstates, counter: counter) { unsafe SHA1Counter.truncate($0) }
    }
  }

  /// Writes the code of `counter`, hashed as 8 bytes, big-endian, to the first bytes of `code`.
  ///
  /// - Precondition: `code` has room for a hash value.
  package func write(to code: UnsafeMutableRawBufferPointer, counter: UInt64) {
    precondition(code.count >= algorithm.digestByteCount, "KeyedHMAC.write(to:counter:): too short")
    guard algorithm == .sha1 else { return unsafe writeLongCode(to: code, counter) }
    unsafe withMidstates(of: SHA1Core.self) { midstates in
      unsafe SHA1Counter.withCode(midstates, counter: counter) { words in
        for index in 0..<5 {
          unsafe code.storeBytes(of: words[index].bigEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
      }
    }
  }

  /// The code of a message, cut down to 31 bits by dynamic truncation, as ``truncatedCode(forCounter:)``.
  package func truncatedCode(of message: (inout HMACMessage) -> Void) -> UInt32 {
    unsafe truncating { unsafe write(to: $0, message) }
  }

  private func truncatedLongCode(_ counter: UInt64) -> UInt32 {
    unsafe truncating { unsafe writeLongCode(to: $0, counter) }
  }

  @inline(__always)
  private func truncating(_ write: (UnsafeMutableRawBufferPointer) -> Void) -> UInt32 {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { code in
      unsafe write(code)
      let offset = unsafe Int(code[algorithm.digestByteCount - 1] & 0x0f)
      let word = unsafe code.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return UInt32(bigEndian: word) & 0x7fff_ffff
    }
  }

  private func writeLongCode(to code: UnsafeMutableRawBufferPointer, _ counter: UInt64) {
    unsafe withUnsafeBytes(of: counter.bigEndian) { message in
      unsafe write(to: code) { unsafe $0.append(message.bytes) }
    }
  }
}

/// HMAC-SHA-1 of 8 bytes without the buffering of SHA1_Update. Both blocks are written here, in stores as wide as
/// the loads of the compression function, and compressed.
private enum SHA1Counter {
  /// Lends the five words of the code in the order of the hash value, each as a number.
  @inline(__always)
  static func withCode<Result>(
    _ midstates: UnsafePointer<SHA_CTX>, counter: UInt64, lending body: (UnsafePointer<UInt32>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64 + MemoryLayout<SHA_CTX>.size, alignment: 16) {
      memory in
      let block = unsafe memory.baseAddress!.assumingMemoryBound(to: SIMD4<UInt32>.self)
      let context = unsafe (memory.baseAddress! + 64).assumingMemoryBound(to: SHA_CTX.self)
      let counter = counter.bigEndian
      unsafe load(midstates, into: context)
      unsafe block[0] = SIMD4(
        UInt32(truncatingIfNeeded: counter), UInt32(truncatingIfNeeded: counter >> 32), endOfMessage, 0)
      unsafe block[1] = .zero
      unsafe block[2] = .zero
      unsafe block[3] = SIMD4(0, 0, 0, UInt32((64 + 8) * 8).bigEndian)
      unsafe compress(context, block: block)
      let inner = unsafe context.pointee
      unsafe load(midstates + 1, into: context)
      unsafe block[0] = SIMD4(
        inner.h0.bigEndian, inner.h1.bigEndian, inner.h2.bigEndian, inner.h3.bigEndian)
      unsafe block[1] = SIMD4(inner.h4.bigEndian, endOfMessage, 0, 0)
      unsafe block[3] = SIMD4(0, 0, 0, UInt32((64 + 20) * 8).bigEndian)
      unsafe compress(context, block: block)
      return unsafe body(UnsafeRawPointer(context).assumingMemoryBound(to: UInt32.self))
    }
  }

  /// RFC 4226 §5.3 on words: the 31 bits that begin at the byte which the last four bits of the code name.
  @inline(__always)
  static func truncate(_ words: UnsafePointer<UInt32>) -> UInt32 {
    let offset = unsafe Int(words[4] & 0x0f)
    let pair = unsafe UInt64(words[offset / 4]) << 32 | UInt64(words[offset / 4 + 1])
    return UInt32(truncatingIfNeeded: pair >> UInt64(32 - 8 * (offset % 4))) & 0x7fff_ffff
  }

  /// SHA1_Transform reads and writes the five words at the front only.
  @inline(__always)
  private static func load(_ midstate: UnsafePointer<SHA_CTX>, into context: UnsafeMutablePointer<SHA_CTX>) {
    unsafe UnsafeMutableRawPointer(context).copyMemory(from: midstate, byteCount: 20)
  }

  @inline(__always)
  private static func compress(
    _ context: UnsafeMutablePointer<SHA_CTX>, block: UnsafeMutablePointer<SIMD4<UInt32>>
  ) {
    unsafe SHA1_Transform(context, UnsafeRawPointer(block).assumingMemoryBound(to: UInt8.self))
  }

  /// The bit that ends a message (FIPS 180-4 §5.1.1), as the first byte of a word in memory.
  private static var endOfMessage: UInt32 { UInt32(0x8000_0000).bigEndian }
}
