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
