import COpenSSL
package import SecretMemory

/// PKCS#12 (RFC 7292), in the order in which a foreign file is safe to open: what it costs, its MAC, and only then what is
/// encrypted.
extension KeyFiles {
  /// Whether an empty passphrase opens a file, as its MAC says.
  package static func hasEmptyPassphrase(_ der: borrowing SecretBytes) throws(KeyFileError) -> Bool {
    let file = try unsafe parsedPKCS12(der)
    defer { unsafe PKCS12_free(file) }
    let contents = try unsafe contents(of: file)
    defer { unsafe free(contents) }
    _ = try unsafe countedBags(of: file, contents)
    return PKCS12Passphrase.forms(of: nil).contains { unsafe $0.isRight(for: file) }
  }

  static func openPKCS12(
    _ der: borrowing SecretBytes, passphrase: SharedSecret?
  ) throws(KeyFileError) -> ImportedKey {
    let file = try unsafe parsedPKCS12(der)
    defer { unsafe PKCS12_free(file) }
    let contents = try unsafe contents(of: file)
    defer { unsafe free(contents) }
    var bags = try unsafe countedBags(of: file, contents)
    let right = PKCS12Passphrase.forms(of: passphrase).first { unsafe $0.isRight(for: file) }
    guard let right else { throw passphrase == nil ? .passphraseNeeded : .wrongPassphrase }
    try unsafe bags.read(contents, passphrase: right)
    return try bags.imported()
  }

  private static func contents(of file: OpaquePointer) throws(KeyFileError) -> OpaquePointer {
    guard let contents = unsafe PKCS12_unpack_authsafes(file) else {
      ERR_clear_error()
      throw .malformed
    }
    return unsafe contents
  }

  private static func free(_ contents: OpaquePointer) {
    unsafe OPENSSL_sk_pop_free(contents) { unsafe PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) }
  }

  /// The bags, after a look at what MAC and bags cost to open: nothing is derived before.
  private static func countedBags(
    of file: OpaquePointer, _ contents: OpaquePointer
  ) throws(KeyFileError) -> PKCS12Bags {
    var cost = PasswordCost()
    try unsafe takeMAC(of: file, from: &cost)
    var bags = PKCS12Bags(cost: cost)
    try unsafe bags.countContents(contents)
    return bags
  }

  private static func parsedPKCS12(_ der: borrowing SecretBytes) throws(KeyFileError) -> OpaquePointer {
    OpenSSL.start
    let file = unsafe der.parsed(freeing: { unsafe PKCS12_free($0) }) { start, count in
      unsafe d2i_PKCS12(nil, &start, count)
    }
    guard let file = unsafe file else { throw .malformed }
    return unsafe file
  }

  /// - Throws: ``KeyFileError/withoutMAC``; ``KeyFileError/unsupportedEncryption`` for a MAC of another hash.
  private static func takeMAC(
    of file: OpaquePointer, from cost: inout PasswordCost
  ) throws(KeyFileError) {
    guard unsafe PKCS12_mac_present(file) == 1 else { throw .withoutMAC }
    var algorithm: UnsafePointer<X509_ALGOR>?
    var iterations: UnsafePointer<ASN1_INTEGER>?
    unsafe PKCS12_get0_mac(nil, &algorithm, nil, &iterations, file)
    guard let algorithm = unsafe algorithm else { throw .malformed }
    let hashes = [NID_sha1, NID_sha224, NID_sha256, NID_sha384, NID_sha512]
    guard unsafe hashes.contains(OBJ_obj2nid(algorithm.pointee.algorithm)) else {
      throw .unsupportedEncryption
    }
    try unsafe cost.take(iterations)
  }
}

/// A passphrase as it goes into the derivations of a PKCS#12 file. Programs write an empty one in two ways: as a text that has no
/// characters before its end, two zero bytes (RFC 7292 B.1), and as nothing at all.
private enum PKCS12Passphrase {
  case text(SharedSecret)
  case emptyText
  case nothing

  static func forms(of passphrase: SharedSecret?) -> [PKCS12Passphrase] {
    guard let passphrase, passphrase.byteCount > 0 else { return [.emptyText, .nothing] }
    return [.text(passphrase)]
  }

  /// Whether the MAC of a file is made with it.
  func isRight(for file: OpaquePointer) -> Bool {
    defer { ERR_clear_error() }
    return unsafe withCharacters { unsafe PKCS12_verify_mac(file, $0, $1) == 1 }
  }

  /// Lends the characters, with their number. OpenSSL adds the end to a text, and takes a null pointer for nothing.
  func withCharacters<R>(_ body: (UnsafePointer<CChar>?, Int32) -> R) -> R {
    switch self {
    case .text(let text): unsafe text.bytes.withCharacters(body)
    case .emptyText: unsafe "".withCString { unsafe body($0, 0) }
    case .nothing: body(nil, 0)
    }
  }
}

/// What the bags of a PKCS#12 file hold.
private struct PKCS12Bags: ~Copyable {
  private var cost: PasswordCost
  private var key: OpenedKey?
  private var keyCount = 0
  private var certificates: [[UInt8]] = []

  init(cost: PasswordCost) {
    self.cost = cost
    key = nil
  }

  /// Counts what the encrypted contents cost, before anything is derived.
  mutating func countContents(_ contents: OpaquePointer) throws(KeyFileError) {
    for index in unsafe 0..<OPENSSL_sk_num(contents) {
      let content = unsafe OPENSSL_sk_value(contents, index)!.assumingMemoryBound(to: PKCS7.self)
      switch unsafe OBJ_obj2nid(content.pointee.type) {
      case NID_pkcs7_data: continue
      case NID_pkcs7_encrypted:
        guard let algorithm = unsafe content.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm else {
          throw .malformed
        }
        try unsafe cost.take(algorithm)
      default: throw .unsupportedEncryption
      }
    }
  }

  mutating func read(
    _ contents: OpaquePointer, passphrase: PKCS12Passphrase
  ) throws(KeyFileError) {
    for index in unsafe 0..<OPENSSL_sk_num(contents) {
      let content = unsafe OPENSSL_sk_value(contents, index)!.assumingMemoryBound(to: PKCS7.self)
      let isPlain = unsafe OBJ_obj2nid(content.pointee.type) == NID_pkcs7_data
      let bags =
        unsafe isPlain
        ? PKCS12_unpack_p7data(content)
        : passphrase.withCharacters { unsafe PKCS12_unpack_p7encdata(content, $0, $1) }
      guard let bags = unsafe bags else {
        ERR_clear_error()
        throw .malformed
      }
      defer { unsafe OPENSSL_sk_pop_free(bags) { unsafe PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
      for index in unsafe 0..<OPENSSL_sk_num(bags) {
        try unsafe take(OpaquePointer(OPENSSL_sk_value(bags, index)!), passphrase: passphrase)
      }
    }
  }

  /// The one key, and its certificates.
  consuming func imported() throws(KeyFileError) -> ImportedKey {
    guard keyCount < 2 else { throw .severalKeys(keyCount) }
    guard let key = key.take() else { throw .noKey }
    return try ImportedKey(key, certificates: certificates)
  }

  private mutating func take(
    _ bag: OpaquePointer, passphrase: PKCS12Passphrase
  ) throws(KeyFileError) {
    switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
    case NID_keyBag:
      keyCount += 1
      guard keyCount == 1, let plain = unsafe PKCS12_SAFEBAG_get0_p8inf(bag) else { return }
      key = try unsafe KeyFiles.key(of: plain)
    case NID_pkcs8ShroudedKeyBag:
      keyCount += 1
      // The others are counted for the message, and not opened.
      guard keyCount == 1 else { return }
      key = try unsafe opened(bag, passphrase: passphrase)
    case NID_certBag: try unsafe takeCertificate(bag)
    case NID_safeContentsBag: throw .nestedBags
    default: break  // Revocation lists and secrets of other programs.
    }
  }

  private mutating func opened(
    _ bag: OpaquePointer, passphrase: PKCS12Passphrase
  ) throws(KeyFileError) -> OpenedKey {
    guard let sealed = unsafe PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw .malformed }
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_SIG_get0(sealed, &algorithm, nil)
    guard let algorithm = unsafe algorithm else { throw .malformed }
    try unsafe cost.take(algorithm)
    let opened = unsafe passphrase.withCharacters { unsafe PKCS8_decrypt(sealed, $0, $1) }
    return try unsafe KeyFiles.key(of: opened, orThrow: .malformed)
  }

  private mutating func takeCertificate(_ bag: OpaquePointer) throws(KeyFileError) {
    guard unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { return }
    guard certificates.count < KeyFiles.mostCertificates else { throw .tooManyCertificates }
    guard let certificate = unsafe PKCS12_SAFEBAG_get1_cert(bag) else {
      ERR_clear_error()
      throw .malformed
    }
    defer { unsafe X509_free(certificate) }
    let count = unsafe Int(i2d_X509(certificate, nil))
    guard count > 0 else { throw .malformed }
    certificates.append(
      unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
        var end = buffer.baseAddress
        written = unsafe Int(i2d_X509(certificate, &end))
      })
  }
}
