import VaultCrypto

/// The hash under the HMAC of a one-time password (RFC 4226 §5.3, RFC 6238 §1.2).
@nonexhaustive
public enum OTPAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// SHA-1, the default of every authenticator.
  case sha1 = "SHA1"
  /// SHA-256.
  case sha256 = "SHA256"
  /// SHA-512.
  case sha512 = "SHA512"

  /// The algorithm that a URI names: any case, with or without dashes and a leading `HMAC`.
  ///
  /// - Throws: ``OTPError/Code/unknownAlgorithm``; nothing is ever read as SHA-1 by default.
  init(uriName: [UInt8]) throws(OTPError) {
    var name = uriName.filter { $0 != UInt8(ascii: "-") }.map(ASCII.uppercased)
    let prefix = Array("HMAC".utf8)
    if name.starts(with: prefix) { name.removeFirst(prefix.count) }
    guard let match = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }) else {
      throw .unknownAlgorithm
    }
    self = match
  }
}

extension OTPAlgorithm {
  var hash: HashAlgorithm {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    }
  }
}
