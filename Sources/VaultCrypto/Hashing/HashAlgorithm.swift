/// The hash functions that HMAC is offered with.
package enum HashAlgorithm: Sendable, Hashable, CaseIterable {
  case sha1
  case sha256
  case sha512

  /// The length of a hash value: 20, 32 or 64 bytes.
  package var digestByteCount: Int {
    switch self {
    case .sha1: SHA1Core.digestByteCount
    case .sha256: SHA256Core.digestByteCount
    case .sha512: SHA512Core.digestByteCount
    }
  }
}
