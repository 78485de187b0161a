import COpenSSL

/// An asymmetric key of OpenSSL, public or private. The library wipes a private key when it frees it.
@safe
struct PKeyHandle: ~Copyable, @unchecked Sendable {  // one owner, and EVP_PKEY itself is counted with locks
  let pointer: OpaquePointer

  /// Owns a key that a call of OpenSSL made; nil is the failure of that call.
  ///
  /// - Throws: `error`, or ``CryptoError/library(code:)``.
  init(_ made: OpaquePointer?, orThrow error: CryptoError? = nil) throws(CryptoError) {
    try unsafe check(made == nil ? 0 : 1, orThrow: error)
    unsafe pointer = unsafe made!
  }

  deinit { unsafe EVP_PKEY_free(pointer) }
}
