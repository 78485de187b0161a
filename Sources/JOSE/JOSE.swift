/// Signed tokens: compact JWS (RFC 7515), the claims of a JWT (RFC 7519), JWK (RFC 7517) and its thumbprint (RFC 7638), proofs of
/// possession (DPoP, RFC 9449) and assertions of clients (RFC 7523). Pure values: the module knows no vault, no clock and no
/// network; time, randomness and signatures are given.
///
/// Reading is strict. A token has bounds before anything is decoded, each object has a member once, and what a reader must
/// understand (`crit`), or may not do without (`alg`), is refused by a typed error. No function believes a token by itself:
/// ``CompactJWS`` is read first, and then verified with a key that the caller has chosen. The algorithm must be that of the key:
/// a public key never checks an HMAC, because ``MACKey`` is another type, and a key that a header brings along is used only where
/// that is the point (a proof).
///
/// A token is a secret as long as it is valid: its bytes stay in `SecretBytes`, and so does every text in it that the caller does
/// not ask for. Public keys, names of issuers and identifiers are texts.
///
/// Read next: ``CompactJWS`` and ``JWSHeader``, ``UnsignedJWS``, ``JWK``, ``JWTClaims``, ``DPoPProof``, ``ClientAssertion``.
package enum JOSE {
  /// The most bytes of a compact JWS.
  package static let longestToken = 256 << 10
  /// The most characters of an encoded header.
  package static let longestHeader = 16 << 10
  /// The greatest number that claims may have as a time: all greater ones are not exact in other programs.
  package static let greatestTime: UInt64 = 1 << 53
}

/// Why a token, a key or a request is refused. No case has anything of what was read, which may be secret, or made to be printed.
package enum JOSEError: Error, Equatable, Sendable {
  /// It has not the form that it must have; the words say which part, and why.
  case malformed(String)
  /// A part is longer than its limit.
  case tooLong(String, limit: Int)
  /// The algorithm is `none`: nothing signs the token.
  case unsecured
  /// An algorithm that this program does not have.
  case unsupportedAlgorithm
  /// The header asks for an extension (`crit`, `b64`, `zip`) that this program does not have.
  case criticalHeader
  /// The key is not for the algorithm, or not for signatures.
  case keyMismatch
  /// A key that is refused, with the reason.
  case refusedKey(String)
  case signatureMismatch
  /// A member is not there.
  case missing(String)
  /// A member has another type than it must have, or a number that is no time.
  case wrongType(String)
  /// A member has another value than the caller expects.
  case wrongValue(String)
  /// The time in `exp` has come.
  case expired
  /// The time in `nbf` has not come.
  case notYetValid
  /// A failure of the library, or of the random generator.
  case library(CryptoFailure)

  /// One line for a person.
  package var message: String {
    switch self {
    case .malformed(let why): why
    case .tooLong(let what, let limit): "\(what) is longer than \(limit) bytes"
    case .unsecured: "the token is not signed: its algorithm is 'none'"
    case .unsupportedAlgorithm: "the token has an algorithm that this version does not have"
    case .criticalHeader: "the token asks for an extension that this version does not have"
    case .keyMismatch: "the key is not for the algorithm of the token"
    case .refusedKey(let why): why
    case .signatureMismatch: "the signature of the token is wrong"
    case .missing(let name): "the token has no '\(name)'"
    case .wrongType(let name): "'\(name)' of the token has a value that it cannot have"
    case .wrongValue(let name): "'\(name)' of the token is not the one that was asked for"
    case .expired: "the token has expired"
    case .notYetValid: "the token is not valid yet"
    case .library(let failure): failure.message
    }
  }
}
