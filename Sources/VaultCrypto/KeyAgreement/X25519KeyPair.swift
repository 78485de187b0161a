import COpenSSL
package import SecretMemory

/// An X25519 key pair (RFC 7748).
package struct X25519KeyPair: ~Copyable, Sendable {
  /// The length of each half and of a shared secret, in bytes.
  package static var keyByteCount: Int { 32 }

  /// 32 bytes; clamped when used (RFC 7748 §5), not when stored.
  package let privateKey: SecretBytes
  /// The u-coordinate, 32 bytes, little-endian.
  package let publicKey: [UInt8]

  /// A new pair from 32 random bytes.
  ///
  /// - Throws: ``CryptoError/randomUnavailable``.
  package static func generate(random: some RandomSource) throws(CryptoError) -> X25519KeyPair {
    try X25519KeyPair(privateKey: random.secret(keyByteCount))
  }

  /// The pair of a private key.
  ///
  /// - Throws: ``CryptoError/invalidKey`` when it is not 32 bytes.
  package init(privateKey: consuming SecretBytes) throws(CryptoError) {
    let publicKey = try X25519KeyPair.publicKey(of: privateKey)
    self.privateKey = privateKey
    self.publicKey = publicKey
  }

  /// The shared secret of a private key and a public key: 32 bytes, the input of a key derivation.
  ///
  /// - Throws: ``CryptoError/invalidKey`` when a key is not 32 bytes, or the public key is a point of small order,
  ///   which makes the secret zero for every private key (RFC 7748 §6.1).
  package static func sharedSecret(
    private privateKey: borrowing SecretBytes, public publicKey: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    guard publicKey.count == keyByteCount else { throw .invalidKey }
    let mine = try importPrivate(privateKey)
    let theirs = try unsafe PKeyHandle(
      EVP_PKEY_new_raw_public_key_ex(OpenSSL.keyContext, "X25519", nil, publicKey, publicKey.count),
      orThrow: .invalidKey)
    var secret = SecretBytes(zeroes: keyByteCount)
    try unsafe secret.modify { (secret) throws(CryptoError) in
      try unsafe derive(from: mine, and: theirs, into: secret)
    }
    guard !secret.isEqualInConstantTime(to: SecretBytes(zeroes: keyByteCount)) else { throw .invalidKey }
    return secret
  }

  private static func derive(
    from mine: borrowing PKeyHandle, and theirs: borrowing PKeyHandle,
    into secret: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(OpenSSL.keyContext, mine.pointer, nil) else {
      throw .outOfMemory
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var count = secret.count
    try unsafe check(EVP_PKEY_derive_init(context))
    try unsafe check(EVP_PKEY_derive_set_peer(context, theirs.pointer), orThrow: .invalidKey)
    try unsafe check(
      EVP_PKEY_derive(context, secret.baseAddress?.assumingMemoryBound(to: UInt8.self), &count),
      orThrow: .invalidKey)
  }

  private static func publicKey(of privateKey: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
    let handle = try importPrivate(privateKey)
    return try unsafe [UInt8](unsafeUninitializedCapacity: keyByteCount) {
      (buffer, count) throws(CryptoError) in
      count = keyByteCount
      try unsafe check(EVP_PKEY_get_raw_public_key(handle.pointer, buffer.baseAddress, &count))
    }
  }

  private static func importPrivate(_ key: borrowing SecretBytes) throws(CryptoError) -> PKeyHandle {
    guard key.byteCount == keyByteCount else { throw .invalidKey }
    let pointer = unsafe key.expose { key in
      unsafe key.withUnsafeBytes {
        unsafe EVP_PKEY_new_raw_private_key_ex(
          OpenSSL.keyContext, "X25519", nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
      }
    }
    return try unsafe PKeyHandle(pointer, orThrow: .invalidKey)
  }
}
