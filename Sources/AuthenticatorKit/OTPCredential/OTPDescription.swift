public import VaultKit

/// A credential without its secret.
public struct OTPDescription: Sendable {
  /// HOTP, TOTP or Steam.
  @nonexhaustive
  public enum Kind: Int64, Sendable {
    /// By a counter (RFC 4226).
    case hotp = 1
    /// By the time (RFC 6238).
    case totp = 2
    /// Steam's five characters by the time.
    case steam = 3

    /// The name in URIs and JSON.
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

  /// Who judges the PIN that guards the key; `nil` without a PIN. Nothing can check the PIN of a camouflaged one, not even
  /// when the credential is enrolled.
  public var pinMode: PINMode? { item.policy.understood?.pin?.mode }
  /// The PIN item that guards the key; `nil` without a PIN.
  public var pinItem: ItemID? { item.policy.understood?.pin?.item }
}
