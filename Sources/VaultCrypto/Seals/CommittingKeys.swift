import COpenSSL

/// The steps that lead from a wrapping key to the keys of one committing seal (docs/format/vault-file.md, section 4), on
/// one piece of stack memory that is wiped at the end.
@unsafe
struct CommittingKeys {
  private let memory: UnsafeMutableRawBufferPointer

  /// Lends the memory and wipes it.
  @inline(__always)
  static func withScratch<R: ~Copyable>(
    _ body: (CommittingKeys) throws(CryptoError) -> R
  ) throws(CryptoError) -> R {
    try unsafe withUnsafeTemporaryAllocation(byteCount: Layout.byteCount, alignment: 16) {
      (memory) throws(CryptoError) in
      defer { unsafe wipe(memory) }
      return try unsafe body(CommittingKeys(memory: memory))
    }
  }

  var salt: UnsafeRawBufferPointer { unsafe part(Layout.salt) }
  var encryptionKey: UnsafeRawBufferPointer { unsafe part(Layout.keys, byteCount: 32) }
  var commitment: UnsafeRawBufferPointer { unsafe part(Layout.keys + 32) }

  /// The IV of a key that is used once.
  var zeroIV: UnsafeRawPointer {
    unsafe (memory.baseAddress! + Layout.zeroIV).initializeMemory(as: UInt8.self, repeating: 0, count: 12)
    return unsafe UnsafeRawPointer(memory.baseAddress! + Layout.zeroIV)
  }

  func hashAssociatedData(_ aad: [UInt8]) {
    unsafe aad.withUnsafeBytes { unsafe hash($0, to: Layout.aadHash) }
  }

  /// salt = HMAC(HMAC(key, "vault/1/hedge"), random32 ‖ SHA256(aad) ‖ SHA256(plaintext)); aad is hashed already.
  func drawSalt(
    key: UnsafeRawBufferPointer, plaintext: UnsafeRawBufferPointer, random: some RandomSource
  ) throws(CryptoError) {
    let message = unsafe memory.baseAddress! + Layout.random
    try unsafe random.fill(UnsafeMutableRawBufferPointer(start: message, count: 32))
    unsafe hash(plaintext, to: Layout.plaintextHash)
    unsafe withHMAC(key: key, to: Layout.salt) { context in
      unsafe SHA256Core.update(context, with: CommittingKeys.hedge)
    }
    unsafe withHMAC(key: salt, to: Layout.salt) { context in
      unsafe SHA256Core.update(context, with: UnsafeRawBufferPointer(start: message, count: 96))
    }
  }

  /// Ke ‖ Kcom = HKDF(ikm = key, salt, info = label ‖ 0 ‖ version ‖ suite ‖ SHA256(aad)), 64 bytes.
  func deriveKeys(key: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, label: Label) {
    let info = unsafe memory.baseAddress! + Layout.info
    let count = label.utf8.count
    unsafe label.utf8.withUnsafeBytes { unsafe info.copyMemory(from: $0.baseAddress!, byteCount: count) }
    unsafe info.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    unsafe info.storeBytes(of: SealFormat.version, toByteOffset: count + 1, as: UInt8.self)
    unsafe info.storeBytes(of: SealFormat.committingSuite, toByteOffset: count + 2, as: UInt8.self)
    unsafe (info + count + 3).copyMemory(from: memory.baseAddress! + Layout.aadHash, byteCount: 32)
    unsafe HKDF.derive(
      key: key, salt: salt, info: UnsafeRawBufferPointer(start: info, count: count + 35),
      into: UnsafeMutableRawBufferPointer(start: memory.baseAddress! + Layout.keys, count: 64))
  }

  private func hash(_ bytes: UnsafeRawBufferPointer, to offset: Int) {
    let context = unsafe contexts
    unsafe SHA256Core.start(context)
    unsafe SHA256Core.update(context, with: bytes)
    unsafe SHA256Core.finish(context, into: memory.baseAddress! + offset)
  }

  private func withHMAC(
    key: UnsafeRawBufferPointer, to offset: Int, _ message: (UnsafeMutablePointer<SHA256_CTX>) -> Void
  ) {
    let midstates = unsafe contexts
    unsafe HMACCore<SHA256Core>.absorb(key: key, into: midstates)
    unsafe HMACCore<SHA256Core>.authenticate(
      midstates, work: midstates + 2, into: memory.baseAddress! + offset, message: message)
  }

  private var contexts: UnsafeMutablePointer<SHA256_CTX> {
    unsafe (memory.baseAddress! + Layout.contexts).assumingMemoryBound(to: SHA256_CTX.self)
  }

  private func part(_ offset: Int, byteCount: Int = 32) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: memory.baseAddress! + offset, count: byteCount)
  }

  private static var hedge: UnsafeRawBufferPointer {
    let text: StaticString = "vault/1/hedge"
    return unsafe UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// Where what lies. `random`, `aadHash`, `plaintextHash` are neighbours: together they are hashed into the salt.
  private enum Layout {
    static var contexts: Int { 0 }
    static var random: Int { 3 * MemoryLayout<SHA256_CTX>.stride }
    static var aadHash: Int { random + 32 }
    static var plaintextHash: Int { aadHash + 32 }
    static var salt: Int { plaintextHash + 32 }
    static var keys: Int { salt + 32 }
    static var zeroIV: Int { keys + 64 }
    static var info: Int { zeroIV + 16 }
    static var byteCount: Int { info + 64 + 3 + 32 }
  }
}
