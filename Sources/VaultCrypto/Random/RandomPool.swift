import CLinux
import SecretMemory

/// Random bytes of the calling thread, drawn in advance, since a call costs more than the cipher. They become salts
/// and nonces, so they lie in ordinary memory; what is handed out is wiped, and a child made by `fork` draws anew.
///
/// The first 512 come from the kernel: a command that lives for milliseconds needs no more, and starting OpenSSL's
/// generator takes a quarter of one. Who needs more gets 32 KiB at a time from that generator:
/// a call of it costs as much as 3 KiB.
enum RandomPool {
  /// Fills `target`, or returns false when it is longer than 256 bytes: then the generator itself is as good. Also
  /// without memory for a pool.
  ///
  /// - Throws: ``CryptoError/randomUnavailable``.
  @inline(__always)
  static func fill(_ target: UnsafeMutableRawBufferPointer) throws(CryptoError) -> Bool {
    guard target.count <= 256, let start = target.baseAddress else { return false }
    guard let pool = unsafe clinux_thread_random_pool() else { return false }
    if unsafe !isFilled(pool, for: target.count) { try unsafe refill(pool) }
    unsafe pool.pointee.left -= target.count
    let taken = unsafe bytes(of: pool) + pool.pointee.left
    unsafe move(taken, to: start, count: target.count)
    return true
  }

  /// Moves bytes out, leaving zeros. The requests are short: calls of memcpy and memset would cost more than this.
  @inline(__always)
  private static func move(_ taken: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
    var offset = 0
    while count &- offset >= 16 {
      unsafe move(taken + offset, to: target + offset, leaving: SIMD2<UInt64>())
      offset &+= 16
    }
    if count &- offset >= 8 {
      unsafe move(taken + offset, to: target + offset, leaving: 0 as UInt64)
      offset &+= 8
    }
    if count &- offset >= 4 {
      unsafe move(taken + offset, to: target + offset, leaving: 0 as UInt32)
      offset &+= 4
    }
    while offset < count {
      unsafe move(taken + offset, to: target + offset, leaving: 0 as UInt8)
      offset &+= 1
    }
  }

  @inline(__always)
  private static func move<Word: BitwiseCopyable>(
    _ taken: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, leaving zero: Word
  ) {
    unsafe target.storeBytes(of: taken.loadUnaligned(as: Word.self), as: Word.self)
    unsafe taken.storeBytes(of: zero, as: Word.self)  // the pool lives on, so no optimizer drops it
  }

  @inline(__always)
  private static func isFilled(_ pool: UnsafeMutablePointer<clinux_random_pool>, for count: Int) -> Bool {
    guard unsafe pool.pointee.left >= count, let mark = unsafe pool.pointee.mark else { return false }
    return unsafe ForkMark(at: mark).isOfThisProcess
  }

  @inline(never)
  private static func refill(_ pool: UnsafeMutablePointer<clinux_random_pool>) throws(CryptoError) {
    unsafe pool.pointee.left = 0
    let mark = ForkMark.ofThisProcess
    // In a child OpenSSL's locks may be held for ever by a thread that was not forked along: start anew, without it.
    let isFirst = unsafe pool.pointee.refills == 0 || pool.pointee.mark != mark.address
    unsafe pool.pointee.mark = unsafe mark.address
    let count = isFirst ? firstByteCount : byteCount
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes(of: pool), count: count)
    if isFirst { try unsafe KernelRandom.fill(buffer) } else { try unsafe LibraryRandom.fill(buffer) }
    unsafe pool.pointee.refills += 1
    unsafe pool.pointee.left = count
  }

  @inline(__always)
  private static func bytes(of pool: UnsafeMutablePointer<clinux_random_pool>) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(pool) + MemoryLayout<clinux_random_pool>.size - byteCount
  }

  /// The length of the pool's array in C, which Swift sees as a tuple at the end of the struct.
  private static var byteCount: Int { clinux_random_pool_size }
  private static var firstByteCount: Int { 512 }
}
