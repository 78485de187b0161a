import COpenSSL

/// The OpenSSL that this process has loaded.
package enum CryptoLibrary {
  /// Like `3.0.17`.
  package static var version: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }

  /// Loads none of OpenSSL's texts of errors, also for other code of the process that shows them: nothing here does. A program
  /// calls it before anything else; a library must not. Loading them takes a thirteenth of the instructions of a short command
  /// that signs.
  package static func leaveOutErrorTexts() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_LOAD_CONFIG), nil)
  }
}
