/// A code and its context.
public struct OTPResult: Sendable, Equatable {
  /// What the code was generated from.
  @nonexhaustive
  public enum Factor: Sendable, Equatable {
    /// The counter of this code (RFC 4226). The next code has another one.
    case counter(UInt64)
    /// The first second in which the code is valid, the first in which it no longer is, both since 1970, and how
    /// many seconds are left (RFC 6238).
    case time(validFrom: Int64, validTo: Int64, remaining: Int64, isSteam: Bool)
  }
  /// The name of the credential.
  public let name: String
  /// The code. It is not secret from now on.
  public let code: String
  /// The number of characters of the code.
  public let digits: Int
  /// What the code was generated from.
  public let factor: Factor
}
