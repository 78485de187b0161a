import COpenSSL

/// One of OpenSSL's asymmetric keys, public or private; the library wipes a private one when it is freed.
@safe
struct PKeyHandle: ~Copyable, @unchecked Sendable {  // one owner, and EVP_PKEY itself is counted with locks
  let pointer: OpaquePointer

  /// Takes over what an OpenSSL call made, nil being its failure.
  ///
  /// - Throws: `error`, or ``CryptoError/library(code:)``.
  init(_ made: OpaquePointer?, orThrow error: CryptoError? = nil) throws(CryptoError) {
    try unsafe check(made == nil ? 0 : 1, orThrow: error)
    unsafe pointer = unsafe made!
  }

  deinit { unsafe EVP_PKEY_free(pointer) }
}
