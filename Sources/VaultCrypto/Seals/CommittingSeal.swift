package import SecretMemory

/// Suite 1: AES-256-GCM with a key that is used once, and a commitment to that key. One seal opens under one key
/// only, even when an attacker chose the keys.
///
///     version(1) = 1 ‖ suite(1) = 1 ‖ salt(32) ‖ commitment(32) ‖ ciphertext ‖ tag(16)
///
/// The salt is hedged: if the random generator repeats its output (a cloned machine), equal content gives two equal
/// seals, and different content never shares a key.
///
/// This is the front page of VaultCrypto, the only module that imports OpenSSL. It knows no vault and no file. Read
/// in this order:
///
/// - `Seals/`: ``CommittingSeal`` wraps keys and seals secrets; ``RecordSeal`` (suite 2) seals records that are
///   listed and rewritten.
/// - `Derivation/`: ``HKDF`` makes a key from a key, for a ``Label``. `Hashing/`: ``KeyedHMAC`` and ``SHA256``.
/// - `KeyAgreement/` and `Signing/`: ``X25519KeyPair``, ``SigningKey`` and ``VerifyingKey``.
/// - `Random/`: ``RandomSource`` and ``SystemRandom``. `OpenSSL/`: its handles, and the one place that turns its
///   results into errors.
/// - ``CryptoError`` is the error of the module.
package enum CommittingSeal {
  /// How much longer a seal is than its plaintext, in bytes.
  package static var overhead: Int { headerByteCount + SealFormat.tagByteCount }

  /// Seals `plaintext`, 0 bytes to 16 MiB, under `key`.
  ///
  /// - Parameter aad: What the seal is bound to; the same bytes are needed to open it.
  /// - Throws: ``CryptoError/tooLarge``, ``CryptoError/randomUnavailable``.
  package static func seal(
    _ plaintext: RawSpan, under key: borrowing SecretBytes, label: Label, aad: [UInt8],
    random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    guard plaintext.byteCount <= SealFormat.maximumPlaintextByteCount else { throw .tooLarge }
    return try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
      try key.expose { (key) throws(CryptoError) in
        try unsafe key.withUnsafeBytes { (key) throws(CryptoError) in
          try unsafe seal(plaintext, key: key, label: label, aad: aad, random: random)
        }
      }
    }
  }

  /// Seals public bytes.
  package static func seal(
    _ plaintext: [UInt8], under key: borrowing SecretBytes, label: Label, aad: [UInt8],
    random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    try seal(unsafe plaintext.span.bytes, under: key, label: label, aad: aad, random: random)
  }

  /// Seals a secret.
  package static func seal(
    _ plaintext: borrowing SecretBytes, under key: borrowing SecretBytes, label: Label, aad: [UInt8],
    random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    try plaintext.expose { (plaintext) throws(CryptoError) in
      try seal(plaintext, under: key, label: label, aad: aad, random: random)
    }
  }

  /// The plaintext of a seal.
  ///
  /// - Throws: ``CryptoError/commitmentMismatch`` for another key, label or `aad`, or a changed salt or commitment;
  ///   ``CryptoError/tagMismatch`` for a changed ciphertext or tag; ``CryptoError/malformed``,
  ///   ``CryptoError/unsupported(version:suite:)``.
  package static func open(
    _ sealed: RawSpan, under key: borrowing SecretBytes, label: Label, aad: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
      try unsafe SealFormat.check(sealed, suite: SealFormat.committingSuite, headerByteCount: headerByteCount)
      return try key.expose { (key) throws(CryptoError) in
        try unsafe key.withUnsafeBytes { (key) throws(CryptoError) in
          try unsafe open(sealed, key: key, label: label, aad: aad)
        }
      }
    }
  }

  /// The plaintext of a seal.
  package static func open(
    _ sealed: [UInt8], under key: borrowing SecretBytes, label: Label, aad: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    try unsafe open(sealed.span.bytes, under: key, label: label, aad: aad)
  }

  /// Checks the layout of a seal, without a key.
  ///
  /// - Throws: ``CryptoError/malformed``, ``CryptoError/unsupported(version:suite:)``.
  package static func check(_ sealed: [UInt8]) throws(CryptoError) {
    try unsafe sealed.span.bytes.withUnsafeBytes { (sealed) throws(CryptoError) in
      try unsafe SealFormat.check(sealed, suite: SealFormat.committingSuite, headerByteCount: headerByteCount)
    }
  }

  private static var headerByteCount: Int { 2 + 32 + 32 }

  private static func seal(
    _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, label: Label, aad: [UInt8],
    random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    try unsafe CommittingKeys.withScratch { (scratch) throws(CryptoError) in
      unsafe scratch.hashAssociatedData(aad)
      try unsafe scratch.drawSalt(key: key, plaintext: plaintext, random: random)
      unsafe scratch.deriveKeys(key: key, salt: scratch.salt, label: label)
      let cipher = try unsafe CipherContext(.seal, key: scratch.encryptionKey, iv: scratch.zeroIV)
      return try unsafe [UInt8](count: plaintext.count + overhead) { (output) throws(CryptoError) in
        unsafe output[0] = SealFormat.version
        unsafe output[1] = SealFormat.committingSuite
        unsafe (output.baseAddress! + 2).copyMemory(from: scratch.salt.baseAddress!, byteCount: 32)
        unsafe (output.baseAddress! + 34).copyMemory(from: scratch.commitment.baseAddress!, byteCount: 32)
        let body = unsafe UnsafeMutableRawBufferPointer(rebasing: output[headerByteCount...])
        try unsafe cipher.seal(plaintext, iv: nil, aad: CipherContext.Parts(), into: body)
      }
    }
  }

  private static func open(
    _ sealed: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, label: Label, aad: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    let salt = unsafe UnsafeRawBufferPointer(rebasing: sealed[2..<34])
    let commitment = unsafe UnsafeRawBufferPointer(rebasing: sealed[34..<66])
    let body = unsafe UnsafeRawBufferPointer(rebasing: sealed[headerByteCount...])
    return try unsafe CommittingKeys.withScratch { (scratch) throws(CryptoError) in
      unsafe scratch.hashAssociatedData(aad)
      unsafe scratch.deriveKeys(key: key, salt: salt, label: label)
      guard unsafe isEqualInConstantTime(scratch.commitment.bytes, commitment.bytes) else {
        throw .commitmentMismatch
      }
      let cipher = try unsafe CipherContext(.open, key: scratch.encryptionKey, iv: scratch.zeroIV)
      var plaintext = SecretBytes(zeroes: body.count - SealFormat.tagByteCount)
      try unsafe plaintext.modify { (output) throws(CryptoError) in
        try unsafe cipher.open(body, iv: nil, aad: CipherContext.Parts(), into: output)
      }
      return plaintext
    }
  }
}
