import OneTimePassword

extension OTPAuthURI.Warning {
  /// Names that this program knows, from the URI.
  private static func list(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: ", ") }

  var words: String {
    switch self {
    case .shortSecret(let bits): "the secret has \(bits) bits only; RFC 4226 asks for 128"
    case .trailingBits: "the Base32 text of the secret ends in bits that mean nothing"
    case .issuerMismatch: "the label names another issuer than the parameter, which counts"
    case .emptyAccount: "the label names no account"
    case .weakSecret(let bits): "the secret has \(bits) bits only: it can be found from the codes"
    case .fewDigits(let digits): "the codes have \(digits) digits only: they can be guessed"
    case .ignoredParameters(let names):
      "not stored, because it does not change the codes: \(Self.list(names))"
    case .emptyParameters(let names): "without a value in the URI, so its default counts: \(Self.list(names))"
    }
  }
}
