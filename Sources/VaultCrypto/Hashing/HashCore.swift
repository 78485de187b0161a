import COpenSSL

/// One hash function, by the low-level calls of OpenSSL: no context on the heap, no lookup, and a state that can be
/// copied, as the midstates of HMAC are.
protocol HashCore {
  associatedtype Context
  static var blockByteCount: Int { get }
  static var digestByteCount: Int { get }
  static func start(_ context: UnsafeMutablePointer<Context>)
  static func update(_ context: UnsafeMutablePointer<Context>, with bytes: UnsafeRawBufferPointer)
  static func finish(_ context: UnsafeMutablePointer<Context>, into digest: UnsafeMutableRawPointer)
}

enum SHA1Core: HashCore {
  static var blockByteCount: Int { 64 }
  static var digestByteCount: Int { 20 }
  static func start(_ context: UnsafeMutablePointer<SHA_CTX>) { unsafe SHA1_Init(context) }
  static func update(_ context: UnsafeMutablePointer<SHA_CTX>, with bytes: UnsafeRawBufferPointer) {
    unsafe SHA1_Update(context, bytes.baseAddress, bytes.count)
  }
  static func finish(_ context: UnsafeMutablePointer<SHA_CTX>, into digest: UnsafeMutableRawPointer) {
    unsafe SHA1_Final(digest.assumingMemoryBound(to: UInt8.self), context)
  }
}

enum SHA256Core: HashCore {
  static var blockByteCount: Int { 64 }
  static var digestByteCount: Int { 32 }
  static func start(_ context: UnsafeMutablePointer<SHA256_CTX>) { unsafe SHA256_Init(context) }
  static func update(_ context: UnsafeMutablePointer<SHA256_CTX>, with bytes: UnsafeRawBufferPointer) {
    unsafe SHA256_Update(context, bytes.baseAddress, bytes.count)
  }
  static func finish(_ context: UnsafeMutablePointer<SHA256_CTX>, into digest: UnsafeMutableRawPointer) {
    unsafe SHA256_Final(digest.assumingMemoryBound(to: UInt8.self), context)
  }
}

enum SHA512Core: HashCore {
  static var blockByteCount: Int { 128 }
  static var digestByteCount: Int { 64 }
  static func start(_ context: UnsafeMutablePointer<SHA512_CTX>) { unsafe SHA512_Init(context) }
  static func update(_ context: UnsafeMutablePointer<SHA512_CTX>, with bytes: UnsafeRawBufferPointer) {
    unsafe SHA512_Update(context, bytes.baseAddress, bytes.count)
  }
  static func finish(_ context: UnsafeMutablePointer<SHA512_CTX>, into digest: UnsafeMutableRawPointer) {
    unsafe SHA512_Final(digest.assumingMemoryBound(to: UInt8.self), context)
  }
}

enum SHA384Core: HashCore {
  static var blockByteCount: Int { 128 }
  static var digestByteCount: Int { 48 }
  static func start(_ context: UnsafeMutablePointer<SHA512_CTX>) { unsafe SHA384_Init(context) }
  static func update(_ context: UnsafeMutablePointer<SHA512_CTX>, with bytes: UnsafeRawBufferPointer) {
    unsafe SHA384_Update(context, bytes.baseAddress, bytes.count)
  }
  static func finish(_ context: UnsafeMutablePointer<SHA512_CTX>, into digest: UnsafeMutableRawPointer) {
    unsafe SHA384_Final(digest.assumingMemoryBound(to: UInt8.self), context)
  }
}

extension HashCore {
  /// Hashes `bytes` at once. The state on the stack is wiped.
  static func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawPointer) {
    unsafe withUnsafeTemporaryAllocation(of: Context.self, capacity: 1) { context in
      unsafe start(context.baseAddress!)
      unsafe update(context.baseAddress!, with: bytes)
      unsafe finish(context.baseAddress!, into: digest)
      unsafe wipe(UnsafeMutableRawBufferPointer(context))
    }
  }
}
