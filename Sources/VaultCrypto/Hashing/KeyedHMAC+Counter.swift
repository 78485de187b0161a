import COpenSSL

extension KeyedHMAC {
  /// The code of a counter, hashed as 8 bytes, big-endian (RFC 4226 §5.2), cut down to 31 bits by dynamic
  /// truncation (RFC 4226 §5.3; for longer hash values the last byte gives the offset, RFC 6238 §1.2).
  ///
  /// - Complexity: For SHA-1 two calls of the compression function, no allocation.
  package func truncatedCode(forCounter counter: UInt64) -> UInt32 {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { code in
      unsafe write(to: code, counter: counter)
      let offset = unsafe Int(code[algorithm.digestByteCount - 1] & 0x0f)
      let word = unsafe code.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return UInt32(bigEndian: word) & 0x7fff_ffff
    }
  }

  /// Writes the code of `counter`, hashed as 8 bytes, big-endian, to the first bytes of `code`.
  ///
  /// - Precondition: `code` has room for a hash value.
  package func write(to code: UnsafeMutableRawBufferPointer, counter: UInt64) {
    precondition(code.count >= algorithm.digestByteCount, "KeyedHMAC.write(to:counter:): too short")
    guard algorithm == .sha1 else {
      let bytes = [counter.bigEndian]
      return unsafe write(to: code) { unsafe $0.append(bytes.span.bytes) }
    }
    unsafe withMidstates(of: SHA1Core.self) { midstates in
      unsafe SHA1Counter.code(midstates, counter, into: code.baseAddress!)
    }
  }
}

/// HMAC-SHA-1 of 8 bytes without the buffering of SHA1_Update: both blocks are laid out here and compressed.
private enum SHA1Counter {
  static func code(
    _ midstates: UnsafePointer<SHA_CTX>, _ counter: UInt64, into code: UnsafeMutableRawPointer
  ) {
    var context = SHA_CTX()
    var block = Block()
    unsafe load(midstates, into: &context)
    block.words.0 = UInt32(truncatingIfNeeded: counter >> 32).bigEndian
    block.words.1 = UInt32(truncatingIfNeeded: counter).bigEndian
    block.words.2 = UInt32(0x8000_0000).bigEndian
    block.words.15 = UInt32((64 + 8) * 8).bigEndian
    compress(&context, &block)
    block.words.0 = context.h0.bigEndian
    block.words.1 = context.h1.bigEndian
    block.words.2 = context.h2.bigEndian
    block.words.3 = context.h3.bigEndian
    block.words.4 = context.h4.bigEndian
    block.words.5 = UInt32(0x8000_0000).bigEndian
    block.words.15 = UInt32((64 + 20) * 8).bigEndian
    unsafe load(midstates + 1, into: &context)
    compress(&context, &block)
    unsafe store(context, to: code)
  }

  @inline(__always)
  private static func load(_ midstate: UnsafePointer<SHA_CTX>, into context: inout SHA_CTX) {
    context.h0 = unsafe midstate.pointee.h0
    context.h1 = unsafe midstate.pointee.h1
    context.h2 = unsafe midstate.pointee.h2
    context.h3 = unsafe midstate.pointee.h3
    context.h4 = unsafe midstate.pointee.h4
  }

  @inline(__always)
  private static func compress(_ context: inout SHA_CTX, _ block: inout Block) {
    unsafe withUnsafeBytes(of: &block) { bytes in
      unsafe SHA1_Transform(&context, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }
  }

  @inline(__always)
  private static func store(_ context: SHA_CTX, to code: UnsafeMutableRawPointer) {
    unsafe code.storeBytes(of: context.h0.bigEndian, toByteOffset: 0, as: UInt32.self)
    unsafe code.storeBytes(of: context.h1.bigEndian, toByteOffset: 4, as: UInt32.self)
    unsafe code.storeBytes(of: context.h2.bigEndian, toByteOffset: 8, as: UInt32.self)
    unsafe code.storeBytes(of: context.h3.bigEndian, toByteOffset: 12, as: UInt32.self)
    unsafe code.storeBytes(of: context.h4.bigEndian, toByteOffset: 16, as: UInt32.self)
  }

  /// One block of 16 big-endian words.
  private struct Block {
    var words:
      (
        UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
        UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }
}
