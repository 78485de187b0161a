package import SecretMemory
package import TextFormats
package import VaultCrypto

/// A key as an object of JSON (RFC 7517, RFC 7518 §6, RFC 8037 §2): a public key, or a secret that two sides have.
package struct JWK: Sendable {
  package enum Material: Sendable {
    case publicKey(VerifyingKey)
    /// `oct`. A program that verifies makes a ``MACKey`` of it.
    case secret(SharedSecret)
  }

  package let material: Material
  /// Which key of its maker it is (`kid`).
  package let keyID: String?
  /// The only algorithm it is for (`alg`), as it is written; `nil` for any.
  package let algorithm: String?
  /// Whether `use` and `key_ops` permit to verify signatures.
  package let isForVerifying: Bool

  /// A public key of ours.
  package init(_ key: VerifyingKey, keyID: String? = nil) {
    material = .publicKey(key)
    self.keyID = keyID
    algorithm = nil
    isForVerifying = true
  }

  /// - Parameter json: One key.
  /// - Throws: ``JOSEError/malformed(_:)``, ``JOSEError/missing(_:)``; ``JOSEError/refusedKey(_:)`` for one with a private half,
  ///   a point that is not on its curve, an RSA key that signs nothing, and an unknown type.
  package init(_ json: consuming SecretBytes) throws(JOSEError) {
    var members = JWKMembers()
    try JSONObject.read(json, as: "the key") { (name, reader) throws(TextError) in
      try members.read(name, reader)
    }
    try self.init(members)
  }

  init(_ members: JWKMembers) throws(JOSEError) {
    guard !members.hasPrivateHalf else {
      throw .refusedKey("the key has its private half; only the public one may be given away")
    }
    material = try members.material()
    (keyID, algorithm) = (members["kid"], members["alg"])
    isForVerifying =
      (members["use"] ?? "sig") == "sig" && (members.operations.map { $0.contains("verify") } ?? true)
  }

  /// A key that a header brings along: never a secret.
  init(public members: JWKMembers) throws(JOSEError) {
    try self.init(members)
    guard case .publicKey = material else {
      throw .refusedKey("the token brings a secret key along")
    }
  }

  /// Verifies a token with the key.
  ///
  /// - Throws: ``JOSEError/keyMismatch`` if the key is for something else; as ``CompactJWS/verify(with:)-(VerifyingKey)``.
  package func verify(_ token: borrowing CompactJWS) throws(JOSEError) {
    guard isForVerifying, algorithm == nil || algorithm == token.header.algorithm.rawValue else {
      throw .keyMismatch
    }
    switch material {
    case .publicKey(let key): try token.verify(with: key)
    case .secret(let secret):
      // Before the length of the secret: a public-key token is not for this key at all.
      guard token.header.algorithm == .hs256 else { throw .keyMismatch }
      try token.verify(with: MACKey(secret.bytes))
    }
  }

  /// The object, its required members first, in the order of their names.
  ///
  /// - Precondition: It is a public key: a secret is not written.
  package func json() throws(JOSEError) -> JSON {
    guard case .publicKey(let key) = material else {
      preconditionFailure("JWK.json: the key is a secret")
    }
    let fields = try Self.required(of: key).map { Field($0.name, $0.value) }
    return .object(fields + [keyID.map { Field("kid", $0) }].compactMap(\.self))
  }

  /// The object as text.
  package func text() throws(JOSEError) -> String {
    String(decoding: JSONObject.bytes(try json()), as: UTF8.self)
  }

  /// The name of the key that all programs give it (RFC 7638): the SHA-256 of its required members, base64url, 43 characters.
  package func thumbprint() throws(JOSEError) -> String {
    switch material {
    case .publicKey(let key):
      let fields = try Self.required(of: key).map { Field($0.name, $0.value) }
      return Base64URL.text(SHA256.hash(JSONObject.bytes(.object(fields))))
    case .secret(let secret):
      let (head, tail) = ("{\"k\":\"", "\",\"kty\":\"oct\"}")
      let count = head.utf8.count + Base64URL.characterCount(of: secret.byteCount) + tail.utf8.count
      let text = SecretBytes(capacity: count) { output in
        for byte in head.utf8 { output.append(byte: byte) }
        secret.expose { Base64URL.encode($0, into: &output) }
        for byte in tail.utf8 { output.append(byte: byte) }
      }
      return Base64URL.text(HashAlgorithm.sha256.hash(text).expose { $0.copied })
    }
  }

  /// The members that make the key, in the order of their names (RFC 7638 §3.2).
  private static func required(of key: VerifyingKey) throws(JOSEError) -> [(name: String, value: String)] {
    do throws(CryptoError) {
      switch (key.type, try key.components()) {
      case (.p256, .point(let both)): return point("P-256", both)
      case (.p384, .point(let both)): return point("P-384", both)
      case (_, .point(let one)): return [("crv", "Ed25519"), ("kty", "OKP"), ("x", Base64URL.text(one))]
      case (_, .rsa(let modulus, let exponent)):
        return [("e", Base64URL.text(exponent)), ("kty", "RSA"), ("n", Base64URL.text(modulus))]
      }
    } catch { throw .library(CryptoFailure(error)) }
  }

  /// - Parameter both: 4, x and y.
  private static func point(_ curve: String, _ both: [UInt8]) -> [(name: String, value: String)] {
    let (x, y) = (Array(both.dropFirst().prefix(both.count / 2)), Array(both.suffix(both.count / 2)))
    return [("crv", curve), ("kty", "EC"), ("x", Base64URL.text(x)), ("y", Base64URL.text(y))]
  }
}
