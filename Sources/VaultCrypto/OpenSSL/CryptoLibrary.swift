import COpenSSL

/// The loaded version of OpenSSL.
package enum CryptoLibrary {
  /// Like `3.0.17`.
  package static var version: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
