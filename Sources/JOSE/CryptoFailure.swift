import VaultCrypto

/// A failure that no input explains.
package enum CryptoFailure: Error, Equatable, Sendable {
  case randomUnavailable
  case outOfMemory
  case other

  init(_ error: CryptoError) {
    self =
      switch error {
      case .randomUnavailable: .randomUnavailable
      case .outOfMemory: .outOfMemory
      default: .other
      }
  }

  var message: String {
    switch self {
    case .randomUnavailable: "the random generator failed; nothing was made"
    case .outOfMemory: "not enough memory"
    case .other: "the cryptographic library failed"
    }
  }
}
