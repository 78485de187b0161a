import COpenSSL
package import SecretMemory

/// The message of one HMAC while it is fed; lent to a closure.
@safe
package struct HMACMessage: ~Copyable {
  @unsafe
  enum Context {
    case sha1(UnsafeMutablePointer<SHA_CTX>)
    case sha256(UnsafeMutablePointer<SHA256_CTX>)
    case sha512(UnsafeMutablePointer<SHA512_CTX>)
  }

  private let context: Context

  init(_ context: Context) { unsafe self.context = unsafe context }

  static func sha1(_ context: UnsafeMutablePointer<SHA_CTX>) -> Context { unsafe .sha1(context) }
  static func sha256(_ context: UnsafeMutablePointer<SHA256_CTX>) -> Context { unsafe .sha256(context) }
  static func sha512(_ context: UnsafeMutablePointer<SHA512_CTX>) -> Context { unsafe .sha512(context) }

  package mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { bytes in
      switch unsafe context {
      case .sha1(let context): unsafe SHA1Core.update(context, with: bytes)
      case .sha256(let context): unsafe SHA256Core.update(context, with: bytes)
      case .sha512(let context): unsafe SHA512Core.update(context, with: bytes)
      }
    }
  }

  package mutating func append(_ bytes: [UInt8]) {
    unsafe append(bytes.span.bytes)
  }

  package mutating func append(_ secret: borrowing SecretBytes) {
    secret.expose { append($0) }
  }
}
