import COpenSSL

/// What signing and verifying have in common.
enum SignatureContext {
  /// Lends a context for one operation, with the padding of `scheme`.
  static func with<Result>(
    _ key: borrowing PKeyHandle, scheme: SignatureScheme, start: (OpaquePointer?) -> Int32,
    body: (OpaquePointer) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .outOfMemory }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(start(context))
    if scheme == .rsaPKCS1 || scheme == .rsaPSS { try unsafe pad(context, for: scheme) }
    return try unsafe body(context)
  }

  /// Lends the SHA-256 of `message`.
  static func withDigest<Result>(
    of message: RawSpan, _ body: (UnsafePointer<UInt8>) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { (digest) throws(CryptoError) in
      unsafe message.withUnsafeBytes {
        unsafe SHA256Core.hash($0, into: UnsafeMutableRawPointer(digest.baseAddress!))
      }
      return try unsafe body(UnsafePointer(digest.baseAddress!))
    }
  }

  private static func pad(_ context: OpaquePointer, for scheme: SignatureScheme) throws(CryptoError) {
    let isPSS = scheme == .rsaPSS
    try unsafe check(EVP_PKEY_CTX_set_rsa_padding(context, isPSS ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING))
    try unsafe check(EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()))
    guard isPSS else { return }
    try unsafe check(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST))
    try unsafe check(EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()))
  }
}
