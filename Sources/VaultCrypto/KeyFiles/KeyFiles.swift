import COpenSSL
package import SecretMemory

/// Reads files with a private key: PKCS#8, encrypted or not, PKCS#1, SEC 1, PKCS#12 and OpenSSH. OpenSSL parses all of
/// them but the last. Every file is foreign: what it may cost is bounded before anything is derived, and a key is used only
/// after its parts were compared.
///
/// Read ``KeyFiles`` first, then `KeyFiles+PKCS12.swift`, ``PasswordCost`` and ``OpenSSHKey``.
package enum KeyFiles {
  /// What a DER structure is.
  package enum Structure: Sendable {
    /// A key without encryption: PKCS#8, PKCS#1 or SEC 1.
    case privateKey
    /// EncryptedPrivateKeyInfo (RFC 5958 §3).
    case encryptedPKCS8
    /// PFX (RFC 7292).
    case pkcs12

    package var needsPassphrase: Bool { self != .privateKey }
  }

  /// The most certificates of one key.
  package static var mostCertificates: Int { 16 }

  /// What the first elements of a DER structure say that it is; `nil` if it is none of these.
  package static func structure(of der: RawSpan) -> Structure? {
    guard let content = header(of: der, at: 0, tag: 0x30) else { return nil }
    // EncryptedPrivateKeyInfo begins with an AlgorithmIdentifier, everything else with a version.
    if header(of: der, at: content, tag: 0x30) != nil { return .encryptedPKCS8 }
    guard let version = header(of: der, at: content, tag: 0x02), version < der.byteCount,
      der.byte(at: version - 1) == 1
    else { return nil }
    return der.byte(at: version) == 3 ? .pkcs12 : .privateKey
  }

  /// Opens a DER structure.
  ///
  /// - Parameters:
  ///   - passphrase: UTF-8, or `nil` if there is none. PKCS#12 then opens if its passphrase is empty.
  ///   - certificates: Those that came beside it, DER.
  package static func open(
    _ der: borrowing SecretBytes, as structure: Structure, passphrase: SharedSecret?,
    certificates: [[UInt8]] = []
  ) throws(KeyFileError) -> ImportedKey {
    guard structure.needsPassphrase else {
      return try ImportedKey(privateKey(der), certificates: certificates)
    }
    if structure == .pkcs12 { return try openPKCS12(der, passphrase: passphrase) }
    guard let passphrase else { throw .passphraseNeeded }
    return try ImportedKey(
      encryptedPKCS8(der, passphrase: passphrase.bytes), certificates: certificates)
  }

  /// Opens a key of OpenSSH: what stands between the lines of its PEM, decoded.
  package static func openOpenSSH(
    _ blob: borrowing SecretBytes, certificates: [[UInt8]] = []
  ) throws(KeyFileError) -> ImportedKey {
    try ImportedKey(OpenSSHKey.read(blob), certificates: certificates)
  }

  private static func privateKey(_ der: borrowing SecretBytes) throws(KeyFileError) -> OpenedKey {
    do throws(CryptoError) { return try PrivateKeyDER.read(der) } catch {
      switch error {
      case .malformed: throw .malformed
      case .invalidKey: throw .unsupportedKey
      default: throw .failed(error)
      }
    }
  }

  private static func encryptedPKCS8(
    _ der: borrowing SecretBytes, passphrase: borrowing SecretBytes
  ) throws(KeyFileError) -> OpenedKey {
    OpenSSL.start
    let sealed = unsafe der.parsed(freeing: { unsafe X509_SIG_free($0) }) { start, count in
      unsafe d2i_X509_SIG(nil, &start, count)
    }
    guard let sealed = unsafe sealed else { throw .malformed }
    defer { unsafe X509_SIG_free(sealed) }
    var cost = PasswordCost()
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_SIG_get0(sealed, &algorithm, nil)
    try unsafe cost.take(algorithm!)
    let opened = unsafe passphrase.withCharacters { text, count in
      unsafe PKCS8_decrypt(sealed, text, count)
    }
    return try unsafe key(of: opened, orThrow: .wrongPassphrase)
  }

  /// The key of a PKCS#8 structure that was decrypted, which is wiped and freed.
  static func key(of opened: OpaquePointer?, orThrow error: KeyFileError) throws(KeyFileError) -> OpenedKey {
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(opened) }
    guard unsafe opened != nil else {
      ERR_clear_error()
      throw error
    }
    return try unsafe key(of: opened)
  }

  /// The key of a PKCS#8 structure that OpenSSL has read. It is written out once more, into secret memory, because the decoder
  /// of OpenSSL would leave copies.
  static func key(of structure: OpaquePointer?) throws(KeyFileError) -> OpenedKey {
    let count = unsafe Int(i2d_PKCS8_PRIV_KEY_INFO(structure, nil))
    guard count > 0 else { throw .malformed }
    var der = SecretBytes(zeroes: count)
    unsafe der.modify { bytes in
      var end = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      _ = unsafe i2d_PKCS8_PRIV_KEY_INFO(structure, &end)
    }
    return try privateKey(der)
  }

  /// Where the content of a DER element with this tag begins, if there is one at the offset.
  private static func header(of der: RawSpan, at offset: Int, tag: UInt8) -> Int? {
    guard offset + 2 <= der.byteCount, der.byte(at: offset) == tag else { return nil }
    let length = der.byte(at: offset + 1)
    guard length >= 0x80 else { return offset + 2 }
    let count = Int(length & 0x7f)
    return 1...4 ~= count && offset + 2 + count <= der.byteCount ? offset + 2 + count : nil
  }
}

/// A private key from a file, with its certificates.
package struct ImportedKey: ~Copyable, Sendable {
  /// The key, whose parts belong together.
  package let key: SigningKey
  /// DER: first the one of this key, then those that issued each other, then the others. Empty if the file had none.
  package let certificates: [[UInt8]]

  /// Checks key and certificates.
  init(_ opened: consuming OpenedKey, certificates: [[UInt8]]) throws(KeyFileError) {
    let chain = try CertificateChain.ordered(certificates, for: opened.key)
    let key = try Self.checked(opened)
    self.key = key
    self.certificates = chain
  }

  private static func checked(_ opened: consuming OpenedKey) throws(KeyFileError) -> SigningKey {
    do throws(CryptoError) {
      let key = try SigningKey(opened)
      try key.checkConsistency()
      return key
    } catch {
      switch error {
      case .invalidKey: throw .inconsistentKey
      case .weakKey: throw .weakKey
      default: throw .failed(error)
      }
    }
  }
}

extension RawSpan {
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

extension SecretBytes {
  /// What a parser of OpenSSL makes of the bytes; `nil` if it fails or does not use all of them.
  func parsed(
    freeing free: (OpaquePointer?) -> Void,
    _ parse: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
  ) -> OpaquePointer? {
    unsafe expose { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        var end = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let wholeEnd = unsafe end.map { unsafe $0 + bytes.count }
        let found = unsafe parse(&end, bytes.count)
        guard unsafe found != nil, unsafe end == wholeEnd else {
          ERR_clear_error()
          unsafe free(found)
          return nil
        }
        return unsafe found
      }
    }
  }

  /// Lends the bytes as the characters of a passphrase, with their number.
  func withCharacters<R>(_ body: (UnsafePointer<CChar>?, Int32) -> R) -> R {
    expose { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
      }
    }
  }
}
