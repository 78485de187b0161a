import COpenSSL
import SecretMemory

/// AES-256-GCM with 12-byte IV and 16-byte tag, on one of OpenSSL's contexts; the context's key is wiped in
/// `deinit`. Not for callers of this module: IVs come from the seals alone.
@safe
struct CipherContext: ~Copyable, @unchecked Sendable {  // one owner; shared only behind a lock
  enum Direction: Int32 {
    case seal = 1
    case open = 0
  }

  static var ivByteCount: Int { 12 }
  static var tagByteCount: Int { 16 }

  private let context: OpaquePointer

  /// - Parameters:
  ///   - key: 32 bytes, whose schedule is kept.
  ///   - iv: 12 bytes for a key that is used once: then no other is given later.
  init(
    _ direction: Direction, key: UnsafeRawBufferPointer, iv: UnsafeRawPointer? = nil
  ) throws(CryptoError) {
    precondition(key.count == 32, "CipherContext: key of AES-256 is 32 bytes")
    let cipher = try unsafe OpenSSL.aes256GCM()
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .outOfMemory }
    do throws(CryptoError) {
      let key = unsafe key.baseAddress!.assumingMemoryBound(to: UInt8.self)
      let iv = unsafe iv?.assumingMemoryBound(to: UInt8.self)
      try unsafe check(EVP_CipherInit_ex2(context, cipher, key, iv, direction.rawValue, nil))
    } catch {
      unsafe EVP_CIPHER_CTX_free(context)
      throw error
    }
    unsafe self.context = unsafe context
  }

  /// - Parameter key: 32 bytes, whose schedule is kept.
  init(_ direction: Direction, key: borrowing SecretBytes) throws(CryptoError) {
    self = try key.expose { (key) throws(CryptoError) in
      try unsafe key.withUnsafeBytes { (key) throws(CryptoError) in
        try unsafe CipherContext(direction, key: key)
      }
    }
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Writes ciphertext and tag to `output`, which has 16 bytes more than `plaintext`.
  ///
  /// - Parameter iv: 12 bytes; nil when it came with the key.
  func seal(
    _ plaintext: UnsafeRawBufferPointer, iv: UnsafeRawPointer?, aad: Parts,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    precondition(output.count == plaintext.count + CipherContext.tagByteCount, "CipherContext.seal")
    try unsafe begin(iv: iv, aad: aad)
    try unsafe transform(plaintext, into: output.baseAddress!)
    let tag = unsafe output.baseAddress! + plaintext.count
    try finish(orThrow: nil)
    try unsafe check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag))
  }

  /// Writes the plaintext of ciphertext and tag to `output`, which has 16 bytes less than `sealed`.
  ///
  /// - Throws: ``CryptoError/tagMismatch``; `output` then holds what must not be used and is wiped.
  func open(
    _ sealed: UnsafeRawBufferPointer, iv: UnsafeRawPointer?, aad: Parts,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    precondition(sealed.count == output.count + CipherContext.tagByteCount, "CipherContext.open")
    let tag = unsafe UnsafeMutableRawPointer(mutating: sealed.baseAddress! + output.count)
    do throws(CryptoError) {
      try unsafe begin(iv: iv, aad: aad)
      try unsafe transform(
        UnsafeRawBufferPointer(rebasing: sealed[..<output.count]), into: output.baseAddress)
      try unsafe check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag))
      try finish(orThrow: .tagMismatch)
    } catch {
      unsafe wipe(output)
      throw error
    }
  }

  /// Associated data in two parts, so that nobody has to join them.
  @unsafe
  struct Parts {
    var first = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    var second = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @inline(__always)
  private func begin(iv: UnsafeRawPointer?, aad: Parts) throws(CryptoError) {
    if let iv = unsafe iv?.assumingMemoryBound(to: UInt8.self) {
      try unsafe check(EVP_CipherInit_ex2(context, nil, nil, iv, -1, nil))
    }
    try unsafe transform(aad.first, into: nil)
    try unsafe transform(aad.second, into: nil)
  }

  /// Feeds `input`, which is associated data when there is no `output`.
  @inline(__always)
  private func transform(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer?
  ) throws(CryptoError) {
    guard unsafe !input.isEmpty else { return }
    guard let count = Int32(exactly: input.count) else { throw .tooLarge }
    var written: Int32 = 0
    try unsafe check(
      EVP_CipherUpdate(
        context, output?.assumingMemoryBound(to: UInt8.self), &written,
        input.baseAddress!.assumingMemoryBound(to: UInt8.self), count))
  }

  /// GCM has no last block, so nothing is written; opening compares the tag here.
  @inline(__always)
  private func finish(orThrow error: CryptoError?) throws(CryptoError) {
    var written: Int32 = 0
    var nothing: UInt8 = 0
    try unsafe check(EVP_CipherFinal_ex(context, &nothing, &written), orThrow: error)
  }
}
