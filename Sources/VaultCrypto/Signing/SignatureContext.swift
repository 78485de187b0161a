import COpenSSL

/// The steps that signing and verifying share.
enum SignatureContext {
  /// Lends a context for one operation, with the padding of `scheme`.
  static func with<Result>(
    _ key: borrowing PKeyHandle, scheme: SignatureScheme, start: (OpaquePointer?) -> Int32,
    body: (OpaquePointer) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(OpenSSL.keyContext, key.pointer, nil) else {
      throw .outOfMemory
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(start(context))
    if scheme == .rsaPKCS1 || scheme == .rsaPSS { try unsafe pad(context, for: scheme) }
    return try unsafe body(context)
  }

  /// Lends the hash of `message` that a key of this type signs.
  static func withDigest<Result>(
    of message: RawSpan, type: SigningKeyType,
    _ body: (UnsafeBufferPointer<UInt8>) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    let count = type == .p384 ? SHA384Core.digestByteCount : SHA256Core.digestByteCount
    return try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
      (digest) throws(CryptoError) in
      unsafe message.withUnsafeBytes { message in
        let start = UnsafeMutableRawPointer(digest.baseAddress!)
        if type == .p384 {
          unsafe SHA384Core.hash(message, into: start)
        } else {
          unsafe SHA256Core.hash(message, into: start)
        }
      }
      return try unsafe body(UnsafeBufferPointer(digest))
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
