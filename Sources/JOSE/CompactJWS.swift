package import SecretMemory
package import VaultCrypto

/// A token in three parts (RFC 7515 §3.1) that was read, and that **is not verified**.
package struct CompactJWS: ~Copyable, Sendable {
  package let header: JWSHeader
  package let payload: SecretBytes
  private let signature: [UInt8]
  /// Header and payload as they were signed.
  private let input: SecretBytes

  /// - Parameter token: ASCII, at most ``JOSE/longestToken`` bytes, without a line end.
  /// - Throws: ``JOSEError/malformed(_:)`` for another number of parts (four dots: the token is encrypted), and as
  ///   ``JWSHeader``; ``JOSEError/tooLong(_:limit:)`` before anything is decoded.
  package init(_ token: borrowing SecretBytes) throws(JOSEError) {
    guard token.byteCount <= JOSE.longestToken else {
      throw .tooLong("the token", limit: JOSE.longestToken)
    }
    let parts = try token.expose { (bytes) throws(JOSEError) in try Self.parts(of: bytes) }
    let header = try JWSHeader(
      token.expose { (bytes) throws(JOSEError) in try Base64URL.decode(bytes.extracting(parts.header)) })
    let signature = try token.expose { (bytes) throws(JOSEError) in
      try Base64URL.decode(bytes.extracting(parts.signature)).expose { $0.copied }
    }
    let payload = try token.expose { (bytes) throws(JOSEError) in
      try Base64URL.decode(bytes.extracting(parts.payload))
    }
    self.header = header
    self.signature = signature
    self.payload = payload
    input = token.expose { SecretBytes(copying: $0.extracting(0..<parts.payload.upperBound)) }
  }

  /// Ends without an error if the holder of the private key signed the token.
  ///
  /// - Throws: ``JOSEError/keyMismatch`` if the algorithm is not the one of the key: HS256 always.
  ///   ``JOSEError/signatureMismatch``.
  package func verify(with key: VerifyingKey) throws(JOSEError) {
    guard header.algorithm == JWSAlgorithm(of: key), let scheme = header.algorithm.scheme else {
      throw .keyMismatch
    }
    do throws(CryptoError) {
      try input.expose { (bytes) throws(CryptoError) in try key.verify(signature, of: bytes, as: scheme) }
    } catch {
      throw error == .signatureMismatch ? .signatureMismatch : .library(CryptoFailure(error))
    }
  }

  /// Ends without an error if a holder of the key signed the token.
  ///
  /// - Throws: ``JOSEError/keyMismatch`` unless the algorithm is HS256; ``JOSEError/signatureMismatch``.
  package func verify(with key: borrowing MACKey) throws(JOSEError) {
    guard header.algorithm == .hs256 else { throw .keyMismatch }
    let code = input.expose { key.code(for: $0) }
    guard unsafe isEqualInConstantTime(code.span.bytes, signature.span.bytes) else {
      throw .signatureMismatch
    }
  }

  private struct Parts {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>
  }

  private static func parts(of bytes: RawSpan) throws(JOSEError) -> Parts {
    var dots: [Int] = []
    for offset in 0..<bytes.byteCount
    where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: ".") {
      dots.append(offset)
      guard dots.count <= 4 else { break }
    }
    guard dots.count != 4 else { throw .malformed("the token has five parts: it is encrypted, not signed") }
    guard dots.count == 2 else { throw .malformed("a signed token has three parts, with a dot between two") }
    guard dots[0] <= JOSE.longestHeader else { throw .tooLong("the header", limit: JOSE.longestHeader) }
    return Parts(
      header: 0..<dots[0], payload: dots[0] + 1..<dots[1], signature: dots[1] + 1..<bytes.byteCount)
  }
}
