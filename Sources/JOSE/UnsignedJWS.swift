package import SecretMemory
package import TextFormats

/// A token that waits for its signature.
package struct UnsignedJWS: ~Copyable, Sendable {
  private let input: SecretBytes

  /// - Parameters:
  ///   - header: Further members, without secrets.
  ///   - payload: The bytes to sign.
  package init(
    _ algorithm: JWSAlgorithm, @JSON.FieldBuilder header: () -> [JSON.Field] = { [] },
    payload: borrowing SecretBytes
  ) {
    let head = JSONObject.bytes(.object([Field("alg", algorithm.rawValue)] + header()))
    let count = Base64URL.characterCount(of: head.count) + 1 + Base64URL.characterCount(of: payload.byteCount)
    input = SecretBytes(capacity: count) { output in
      unsafe Base64URL.encode(head.span.bytes, into: &output)
      output.append(byte: UInt8(ascii: "."))
      payload.expose { Base64URL.encode($0, into: &output) }
    }
  }

  /// The same, with the members that most headers have.
  package init(_ algorithm: JWSAlgorithm, type: String, keyID: String?, payload: borrowing SecretBytes) {
    self.init(
      algorithm,
      header: {
        Field("typ", type)
        Field("kid", keyID)
      }, payload: payload)
  }

  /// The same, of claims without secrets.
  package init(
    _ algorithm: JWSAlgorithm, @JSON.FieldBuilder header: () -> [JSON.Field] = { [] },
    @JSON.FieldBuilder claims: () -> [JSON.Field]
  ) {
    let payload = SecretBytes(copying: JSONObject.bytes(.object(claims())))
    self.init(algorithm, header: header, payload: payload)
  }

  /// The whole token.
  ///
  /// - Parameter sign: Signs the bytes with a key of the algorithm: r and s for ECDSA, 32 bytes for HS256.
  package func signed<E: Error>(_ sign: (RawSpan) throws(E) -> [UInt8]) throws(E) -> SecretBytes {
    let signature = try input.expose(sign)
    return SecretBytes(capacity: input.byteCount + 1 + Base64URL.characterCount(of: signature.count)) {
      output in
      input.expose { output.append(copying: $0) }
      output.append(byte: UInt8(ascii: "."))
      unsafe Base64URL.encode(signature.span.bytes, into: &output)
    }
  }

  /// The whole token, signed with a key that two sides have.
  ///
  /// - Precondition: The algorithm is HS256.
  package func signed(with key: borrowing MACKey) -> SecretBytes {
    let code = input.expose { key.code(for: $0) }
    return signed { _ in code }
  }
}
