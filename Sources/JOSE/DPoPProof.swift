package import SecretMemory
import TextFormats
package import VaultCrypto

/// A proof that the sender of a request has a key (RFC 9449 §4.2): one token for one request.
///
/// ```swift
/// let proof = try DPoPProof(method: "POST", url: "https://server.example/token", nonce: nonce)
/// let text = try proof.unsigned(by: key, at: now, random: random).signed { … }
/// ```
package struct DPoPProof: Sendable {
  /// The most bytes of a nonce: a server that sends a longer one is not believed.
  package static let longestNonce = 1024

  private let method: String
  /// Where the request goes.
  package let target: HTTPTarget
  private let nonce: String?
  private let tokenHash: String?

  /// - Parameters:
  ///   - method: The method of the request, `POST`, as it is sent.
  ///   - url: Its address; query and fragment are left out.
  ///   - nonce: What the server has sent in `DPoP-Nonce`, 1 to 1,024 characters; `nil` if it sent none.
  ///   - token: The access token that is sent along, 1 byte or more; `nil` without one.
  /// - Throws: ``JOSEError/malformed(_:)``, ``JOSEError/tooLong(_:limit:)``.
  package init(
    method: String, url: String, nonce: String? = nil, token: borrowing SecretBytes? = nil
  ) throws(JOSEError) {
    guard 1...32 ~= method.utf8.count, method.utf8.allSatisfy(Self.isOfMethod) else {
      throw .malformed("the method is not a method of HTTP, such as GET or POST")
    }
    self.method = method
    target = try HTTPTarget(url)
    if let nonce {
      guard nonce.utf8.count <= Self.longestNonce else {
        throw .tooLong("the nonce", limit: Self.longestNonce)
      }
      guard !nonce.isEmpty, nonce.utf8.allSatisfy(Self.isOfNonce) else {
        throw .malformed("the nonce has a character that it cannot have")
      }
    }
    self.nonce = nonce
    tokenHash = try Self.hash(token)
  }

  /// The proof, which the key then signs.
  ///
  /// - Parameters:
  ///   - key: The public half of the key that signs.
  ///   - now: Seconds since 1970, as the server counts them.
  /// - Throws: ``JOSEError/library(_:)``.
  package func unsigned(
    by key: VerifyingKey, at now: Int64, random: some RandomSource
  ) throws(JOSEError) -> UnsignedJWS {
    let (id, shown) = (try TokenID.make(random), try JWK(key).json())
    return UnsignedJWS(JWSAlgorithm(of: key)) {
      Field("typ", "dpop+jwt")
      Field("jwk", shown)
    } claims: {
      Field("jti", id)
      Field("htm", method)
      Field("htu", target.text)
      Field("iat", now)
      Field("ath", tokenHash)
      Field("nonce", nonce)
    }
  }

  /// `ath`: the SHA-256 of the token, base64url.
  private static func hash(_ token: borrowing SecretBytes?) throws(JOSEError) -> String? {
    switch token {
    case .none: return nil
    case .some(let token):
      guard token.byteCount > 0 else { throw .malformed("the access token is empty") }
      return Base64URL.text(HashAlgorithm.sha256.hash(token).expose { $0.copied })
    }
  }

  /// RFC 9110 §9.1, without the marks that no method has.
  private static func isOfMethod(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// Whether a server can mean a text as its nonce.
  package static func isNonce(_ text: String) -> Bool {
    1...longestNonce ~= text.utf8.count && text.utf8.allSatisfy(isOfNonce)
  }

  /// NQCHAR of RFC 6749: what RFC 9449 §8.1 permits.
  private static func isOfNonce(_ byte: UInt8) -> Bool {
    byte == 0x21 || 0x23...0x5B ~= byte || 0x5D...0x7E ~= byte
  }
}
