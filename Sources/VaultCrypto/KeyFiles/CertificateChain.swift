import COpenSSL

/// The certificates of a key, in the order in which they are shown to others.
enum CertificateChain {
  /// First the certificate of the key, then each that issued the one before, then the others as they came.
  ///
  /// - Throws: ``KeyFileError/foreignCertificates`` if there are some and none is of the key.
  static func ordered(_ ders: [[UInt8]], for key: borrowing PKeyHandle) throws(KeyFileError) -> [[UInt8]] {
    guard !ders.isEmpty else { return [] }
    guard ders.count <= KeyFiles.mostCertificates else { throw .tooManyCertificates }
    var rest: [Certificate] = []
    for der in ders { rest.append(try Certificate(der)) }
    guard let first = rest.firstIndex(where: { $0.isOf(key) }) else { throw .foreignCertificates }
    var chain = [rest.remove(at: first)]
    while let next = rest.firstIndex(where: { $0.issued(chain[chain.count - 1]) }) {
      chain.append(rest.remove(at: next))
    }
    return (chain + rest).map(\.der)
  }

  /// The certificates that are joined in `bytes`.
  ///
  /// - Throws: ``KeyFileError/malformed`` if the bytes are anything else.
  static func split(_ bytes: [UInt8]) throws(KeyFileError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var offset = 0
    while offset < bytes.count {
      let certificate = try Certificate(startingAt: offset, of: bytes)
      found.append(certificate.der)
      offset += certificate.der.count
    }
    return found
  }

  @safe
  private final class Certificate {
    let der: [UInt8]
    private let pointer: OpaquePointer

    convenience init(_ der: [UInt8]) throws(KeyFileError) {
      try self.init(startingAt: 0, of: der)
      guard self.der.count == der.count else { throw .malformed }
    }

    init(startingAt offset: Int, of bytes: [UInt8]) throws(KeyFileError) {
      OpenSSL.start
      var length = 0
      let found = unsafe bytes[offset...].withUnsafeBufferPointer { bytes in
        var end = bytes.baseAddress
        let found = unsafe d2i_X509(nil, &end, bytes.count)
        if let end = unsafe end, let start = bytes.baseAddress { length = unsafe end - start }
        return unsafe found
      }
      guard let found = unsafe found else {
        ERR_clear_error()
        throw .malformed
      }
      unsafe pointer = found
      der = Array(bytes[offset..<offset + length])
    }

    deinit { unsafe X509_free(pointer) }

    func isOf(_ key: borrowing PKeyHandle) -> Bool {
      let isEqual = unsafe EVP_PKEY_eq(X509_get0_pubkey(pointer), key.pointer) == 1
      ERR_clear_error()
      return isEqual
    }

    func issued(_ other: Certificate) -> Bool {
      unsafe X509_check_issued(pointer, other.pointer) == X509_V_OK
    }
  }
}

extension KeyFiles {
  /// The certificates that are joined in `bytes`, DER.
  package static func certificates(joinedIn bytes: [UInt8]) throws(KeyFileError) -> [[UInt8]] {
    try CertificateChain.split(bytes)
  }
}
