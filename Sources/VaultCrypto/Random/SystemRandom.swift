import COpenSSL
import SecretMemory
import Synchronization

/// OpenSSL's generators, seeded by the kernel: the private one for keys, the public one, through a pool, for
/// salts and nonces.
package struct SystemRandom: RandomSource {
  package init() {}

  package func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    if try unsafe RandomPool.shared.fill(bytes) { return }
    OpenSSL.start
    try unsafe check(
      RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)),
      orThrow: .randomUnavailable)
  }

  package func fillKey(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    OpenSSL.start
    try unsafe check(
      RAND_priv_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)),
      orThrow: .randomUnavailable)
  }
}

/// 4 KiB of random bytes drawn in one call, since a call costs more than the cipher. Bytes handed out are wiped,
/// and a child made by `fork` draws its own.
private final class RandomPool: Sendable {
  static let shared = RandomPool()
  private static let byteCount = 4096

  private struct State: ~Copyable {
    var bytes = SecretBytes(zeroes: 0)
    var left = 0
    var mark = ForkMark()
  }

  private let state = Mutex(State())

  /// Fills `bytes`, or returns false when it is too long for the pool or another thread is using the pool (in a
  /// forked child perhaps for ever): then the caller asks the generator itself.
  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) -> Bool {
    guard bytes.count <= RandomPool.byteCount / 16, let target = bytes.baseAddress else {
      return unsafe bytes.isEmpty
    }
    let request = unsafe Request(target: target, byteCount: bytes.count)
    let done = try state.withLockIfAvailable { (state) throws(CryptoError) in
      if unsafe state.left < request.byteCount || !state.mark.isOfThisProcess {
        try RandomPool.refill(&state)
      }
      unsafe RandomPool.take(request, from: &state)
      return true
    }
    return done ?? false
  }

  private static func refill(_ state: inout State) throws(CryptoError) {
    state.left = 0
    if !state.mark.isOfThisProcess || state.bytes.byteCount == 0 {
      state.mark = ForkMark()
      state.bytes = SecretBytes(zeroes: byteCount)
    }
    OpenSSL.start
    try unsafe state.bytes.modify { (bytes) throws(CryptoError) in
      let start = unsafe bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
      try unsafe check(RAND_bytes(start, Int32(byteCount)), orThrow: .randomUnavailable)
    }
    state.left = byteCount
  }

  private static func take(_ request: Request, from state: inout State) {
    let offset = unsafe state.left - request.byteCount
    unsafe state.bytes.modify { pool in
      let taken = unsafe UnsafeMutableRawBufferPointer(
        rebasing: pool[offset..<offset + request.byteCount])
      unsafe request.target.copyMemory(from: taken.baseAddress!, byteCount: request.byteCount)
      unsafe wipe(taken)
    }
    state.left = offset
  }

  /// Carries the caller's buffer into the lock.
  @unsafe
  private struct Request: @unchecked Sendable {
    let target: UnsafeMutableRawPointer
    let byteCount: Int
  }
}
