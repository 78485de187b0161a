import COpenSSL

/// The contexts of OpenSSL in which one key signs many times.
@safe
struct Signer: ~Copyable, @unchecked Sendable {  // behind the lock of its key
  private let type: SigningKeyType
  /// For ECDSA. RSA makes one per signature, which takes a thousand times longer than making the context.
  private let keyContext: OpaquePointer?
  /// For Ed25519.
  private let messageContext: OpaquePointer?

  init(_ key: borrowing PKeyHandle, type: SigningKeyType) throws(CryptoError) {
    let contexts = try unsafe Signer.contexts(for: key, type: type)
    self.type = type
    unsafe (keyContext, messageContext) = unsafe contexts
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(keyContext)
    unsafe EVP_MD_CTX_free(messageContext)
  }

  /// ECDSA signatures come as DER.
  func sign(
    _ message: RawSpan, as scheme: SignatureScheme, with key: borrowing PKeyHandle
  ) throws(CryptoError) -> [UInt8] {
    switch scheme {
    case .ed25519: try signMessage(message, with: key)
    case .ecdsaRaw, .ecdsaDER: try unsafe signDigest(of: message, in: keyContext!, with: key)
    case .rsaPKCS1, .rsaPSS:
      try unsafe SignatureContext.with(key, scheme: scheme, start: EVP_PKEY_sign_init) {
        (context) throws(CryptoError) in
        try unsafe signDigest(of: message, in: context, with: key)
      }
    }
  }

  private static func contexts(
    for key: borrowing PKeyHandle, type: SigningKeyType
  ) throws(CryptoError) -> (key: OpaquePointer?, message: OpaquePointer?) {
    switch type {
    case .rsa2048, .rsa3072, .rsa4096: return (nil, nil)
    case .ed25519:
      let context = unsafe EVP_MD_CTX_new()
      try unsafe check(context == nil ? 0 : 1, orThrow: .outOfMemory)
      return unsafe (nil, context)
    case .p256, .p384:
      let context = unsafe EVP_PKEY_CTX_new_from_pkey(OpenSSL.keyContext, key.pointer, nil)
      try unsafe check(context == nil ? 0 : 1, orThrow: .outOfMemory)
      try unsafe check(EVP_PKEY_sign_init(context))
      return unsafe (context, nil)
    }
  }

  private func signMessage(
    _ message: RawSpan, with key: borrowing PKeyHandle
  ) throws(CryptoError) -> [UInt8] {
    try unsafe check(
      EVP_DigestSignInit_ex(messageContext, nil, nil, OpenSSL.keyContext, nil, key.pointer, nil))
    return try unsafe message.withUnsafeBytes { (message) throws(CryptoError) in
      try unsafe [UInt8](unsafeUninitializedCapacity: 64) { (signature, count) throws(CryptoError) in
        count = 64
        let start = unsafe message.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try unsafe check(EVP_DigestSign(messageContext, signature.baseAddress, &count, start, message.count))
      }
    }
  }

  private func signDigest(
    of message: RawSpan, in context: OpaquePointer, with key: borrowing PKeyHandle
  ) throws(CryptoError) -> [UInt8] {
    let capacity = unsafe Int(EVP_PKEY_get_size(key.pointer))
    return try unsafe SignatureContext.withDigest(of: message, type: type) { (digest) throws(CryptoError) in
      try unsafe [UInt8](unsafeUninitializedCapacity: capacity) { (signature, count) throws(CryptoError) in
        var written = capacity
        try unsafe check(
          EVP_PKEY_sign(context, signature.baseAddress, &written, digest.baseAddress, digest.count))
        count = written
      }
    }
  }
}
