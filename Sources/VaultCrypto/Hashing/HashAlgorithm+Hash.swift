package import SecretMemory

extension HashAlgorithm {
  /// The hash value of a secret, in secret memory: 20, 32 or 64 bytes.
  package func hash(_ secret: borrowing SecretBytes) -> SecretBytes {
    var digest = SecretBytes(zeroes: digestByteCount)
    secret.expose { secret in
      unsafe secret.withUnsafeBytes { bytes in
        unsafe digest.modify { digest in
          switch self {
          case .sha1: unsafe SHA1Core.hash(bytes, into: digest.baseAddress!)
          case .sha256: unsafe SHA256Core.hash(bytes, into: digest.baseAddress!)
          case .sha512: unsafe SHA512Core.hash(bytes, into: digest.baseAddress!)
          }
        }
      }
    }
    return digest
  }
}
