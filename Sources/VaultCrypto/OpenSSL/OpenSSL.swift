import COpenSSL

/// OpenSSL's start-up and what is fetched from it once.
enum OpenSSL {
  /// Starts the library without any openssl.cnf: a configuration file could put another engine in its place.
  /// Comes before every other call that needs the library's state.
  static let start: Void = {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
  }()

  /// AES-256-GCM of the default provider, fetched at the first use and kept for ever.
  static func aes256GCM() throws(CryptoError) -> OpaquePointer {
    guard let cipher = unsafe fetchedAES256GCM.pointer else { throw .library(code: 0) }
    return unsafe cipher
  }

  private static let fetchedAES256GCM: Fetched = {
    start
    return unsafe Fetched(pointer: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
  }()

  /// An algorithm is immutable and counted by the library itself.
  @unsafe
  private struct Fetched: @unchecked Sendable {
    let pointer: OpaquePointer?
  }
}

/// The one turning point of OpenSSL's results into errors: 1 or more is success.
///
/// - Throws: `error`, or ``CryptoError/library(code:)`` with the first code of the thread's queue, which is
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
