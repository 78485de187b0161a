import COpenSSL

/// Starts OpenSSL, and keeps what is taken from it once.
enum OpenSSL {
  /// Starts the library without any openssl.cnf, because a configuration file could replace its ciphers. Call it
  /// before every other call that needs the state of the library. The tables of names stay empty: this module asks
  /// for nothing by name, and filling them takes a fifth of the instructions of a short command.
  static let start: Void = {
    OPENSSL_init_crypto(
      UInt64(
        OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS), nil)
  }()

  /// AES-256-GCM, made at the first use and never freed.
  static func aes256GCM() throws(CryptoError) -> OpaquePointer {
    guard let cipher = unsafe cachedAES256GCM.pointer else { throw .library(code: 0) }
    return unsafe cipher
  }

  /// OpenSSL 3 keeps the method of version 1.1 beside that of the provider: the same assembly behind fewer calls. A
  /// copy of it is used directly. The original would be looked up among the providers, and their set-up costs more
  /// than all the rest of a short command: docs/decisions/0006-cipher-method.md.
  private static let cachedAES256GCM: Kept = {
    start
    return unsafe Kept(pointer: EVP_CIPHER_meth_dup(EVP_aes_256_gcm()))
  }()

  /// The library context of asymmetric keys, made at the first use and never freed. Every call that takes a context
  /// gets this one, or the library sets its algorithms up twice.
  ///
  /// Its random generators are Hash_DRBG, which needs hashes only, as a signature does. CTR_DRBG, which the default
  /// context has, sets all ciphers up, which takes a quarter of the instructions of a short command that signs:
  /// docs/decisions/0036-context-of-keys.md. If there is no memory for it, it is `nil`, the default context.
  static var keyContext: OpaquePointer? { unsafe cachedKeyContext.pointer }

  private static let cachedKeyContext: Kept = {
    start
    guard let context = unsafe OSSL_LIB_CTX_new() else { return unsafe Kept(pointer: nil) }
    guard unsafe RAND_set_DRBG_type(context, "HASH-DRBG", nil, nil, "SHA256") == 1 else {
      // It may have a part of the type, with which it would never make a generator.
      unsafe OSSL_LIB_CTX_free(context)
      ERR_clear_error()
      return unsafe Kept(pointer: nil)
    }
    return unsafe Kept(pointer: context)
  }()

  /// What OpenSSL has made for all of a process.
  @unsafe
  struct Kept: @unchecked Sendable {  // made once and never changed; the library only reads it
    let pointer: OpaquePointer?
  }
}

/// Turns a result of OpenSSL into an error: 1 or more is success.
///
/// - Throws: `error`, or ``CryptoError/library(code:)`` with the first code of the thread's queue. The queue is
///   emptied.
@inline(__always)
func check(_ result: Int32, orThrow error: CryptoError? = nil) throws(CryptoError) {
  if result <= 0 { throw failure(error) }
}

@inline(never)
private func failure(_ error: CryptoError?) -> CryptoError {
  let code = ERR_get_error()
  ERR_clear_error()
  return error ?? .library(code: UInt(code))
}
