import COpenSSL

/// SHA-256 (FIPS 180-4) of public values.
package enum SHA256 {
  /// The hash value: 32 bytes.
  package static func hash(_ bytes: RawSpan) -> [UInt8] {
    var hash = Incremental()
    hash.append(bytes)
    return hash.finish()
  }

  /// The hash value: 32 bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    unsafe hash(bytes.span.bytes)
  }

  /// A hash value of what arrives in parts.
  package struct Incremental: Sendable {
    private var context = SHA256_CTX()

    package init() { unsafe SHA256_Init(&context) }

    package mutating func append(_ bytes: RawSpan) {
      unsafe bytes.withUnsafeBytes { bytes in
        _ = unsafe SHA256_Update(&context, bytes.baseAddress, bytes.count)
      }
    }

    package mutating func append(_ bytes: [UInt8]) {
      unsafe append(bytes.span.bytes)
    }

    /// The hash value of everything appended so far: 32 bytes. More can be appended afterwards.
    package func finish() -> [UInt8] {
      var context = context
      var digest = [UInt8](repeating: 0, count: 32)
      unsafe SHA256_Final(&digest, &context)
      return digest
    }
  }
}
