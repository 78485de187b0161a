public import VaultKit

/// Which side of a one-time password a credential is.
public enum OTPRole: Int64, Sendable {
  /// Keeps the next counter and prints codes.
  case prover = 1
  /// Keeps the last accepted one and judges codes; never prints one.
  case verifier = 2
}

/// A code with what is worth knowing about it.
public struct OTPResult: Sendable, Equatable {
  /// What the code was made from.
  public enum Factor: Sendable, Equatable {
    /// The counter this code was made from (RFC 4226). The next code has another one.
    case counter(UInt64)
    /// The seconds, since 1970, from which and up to which it is valid, and how many of them are left (RFC 6238).
    case time(validFrom: Int64, validTo: Int64, remaining: Int64, isSteam: Bool)
  }
  /// The name of the credential.
  public let name: String
  /// The code: a public value from now on.
  public let code: String
  /// The number of characters of the code.
  public let digits: Int
  /// What it was made from.
  public let factor: Factor
}

/// What is known of a credential without its secret.
public struct OTPDescription: Sendable {
  /// HOTP, TOTP or Steam.
  public enum Kind: Int64, Sendable {
    /// By a counter (RFC 4226).
    case hotp = 1
    /// By the time (RFC 6238).
    case totp = 2
    /// Steam's five characters by the time.
    case steam = 3

    /// The word in URIs and JSON.
    public var word: String {
      switch self {
      case .hotp: "hotp"
      case .totp: "totp"
      case .steam: "steam"
      }
    }
  }
  /// The item.
  public let item: Item
  /// HOTP, TOTP or Steam.
  public let kind: Kind
  /// Prover or verifier.
  public let role: OTPRole
  /// `SHA1`, `SHA256` or `SHA512`.
  public let algorithm: String
  /// The number of characters of a code.
  public let digits: Int
  /// The length of a time step in seconds; `nil` for HOTP.
  public let period: Int64?
  /// How many counters, or steps to either side, a verifier tries.
  public let window: UInt64
  /// The counters.
  public let state: ItemState
}
