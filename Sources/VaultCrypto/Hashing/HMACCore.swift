import COpenSSL
import Glibc

/// HMAC (RFC 2104) over any of the hash functions, on memory that the caller owns and wipes.
///
/// A key becomes two *midstates*: the states of the hash after the inner and after the outer key block.
enum HMACCore<Hash: HashCore> {
  typealias Context = Hash.Context

  /// Absorbs `key`, of any length, into two contexts: inner, outer.
  static func absorb(key: UnsafeRawBufferPointer, into midstates: UnsafeMutablePointer<Context>) {
    unsafe withUnsafeTemporaryAllocation(byteCount: Hash.blockByteCount, alignment: 16) { block in
      unsafe block.initializeMemory(as: UInt8.self, repeating: 0)
      if key.count > Hash.blockByteCount {
        unsafe Hash.start(midstates)
        unsafe Hash.update(midstates, with: key)
        unsafe Hash.finish(midstates, into: block.baseAddress!)
      } else {
        unsafe block.copyMemory(from: key)
      }
      unsafe flip(block, with: 0x36)
      unsafe Hash.start(midstates)
      unsafe Hash.update(midstates, with: UnsafeRawBufferPointer(block))
      unsafe flip(block, with: 0x36 ^ 0x5c)
      unsafe Hash.start(midstates + 1)
      unsafe Hash.update(midstates + 1, with: UnsafeRawBufferPointer(block))
      unsafe wipe(block)
    }
  }

  /// Writes the code of what `message` feeds to its context to `code`. The caller wipes `work`. `code` may be part
  /// of what `message` feeds.
  @inline(__always)
  static func authenticate(
    _ midstates: UnsafePointer<Context>, work: UnsafeMutablePointer<Context>,
    into code: UnsafeMutableRawPointer, message: (UnsafeMutablePointer<Context>) -> Void
  ) {
    unsafe work.update(from: midstates, count: 1)
    unsafe message(work)
    unsafe Hash.finish(work, into: code)
    unsafe work.update(from: midstates + 1, count: 1)
    unsafe Hash.update(work, with: UnsafeRawBufferPointer(start: code, count: Hash.digestByteCount))
    unsafe Hash.finish(work, into: code)
  }

  private static func flip(_ block: UnsafeMutableRawBufferPointer, with pad: UInt8) {
    for index in block.indices { unsafe block[index] ^= pad }
  }
}
