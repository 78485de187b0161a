public import OneTimePassword
import SecretMemory
public import VaultKit

/// A one-time-password credential to enroll: everything but its key.
///
/// ```swift
/// var new = NewOTPCredential(.totp(periodSeconds: 30), name: "anna", role: .verifier)
/// new.issuer = "example.org"
/// ```
public struct NewOTPCredential: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// HOTP with the first counter, TOTP with the period in seconds, or Steam.
  public var kind: OTPAuthURI.Kind
  /// A prover generates codes; a verifier judges them.
  public var role: OTPRole
  /// The hash under the HMAC. Steam codes have SHA-1.
  public var algorithm = OTPAlgorithm.sha1
  /// 6, 7 or 8 decimal digits; `nil` for 6, and for the 5 characters of Steam. ``allowsWeak`` adds 4 and 5.
  public var digits: Int?
  /// How many counters, or steps to either side, a verifier tries; `nil` for 10 and 1.
  public var window: UInt64?
  /// Who accepts the codes, at most 255 bytes; `nil` for none.
  public var issuer: String?
  /// The account at the issuer, at most 255 bytes; `nil` for none.
  public var account: String?
  /// Who may use it and when.
  public var access = AccessControl()
  /// Which operations on it are logged.
  public var audit = AuditPolicy.changes
  /// How many codes a prover makes without a synchronization; `nil` for any number. Then it is out of step. **Enforced by
  /// this library**: the device key alone can change it.
  public var offlineCodes: UInt32?
  /// How many seconds a prover makes codes without a synchronization, from its enrollment on; `nil` for any time. **Enforced
  /// by this library**, as ``offlineCodes``.
  public var offlineSeconds: UInt32?
  /// Whether a secret of fewer than 80 bits, and codes of 4 and 5 digits, are accepted: for a person whose server chose them.
  public var allowsWeak = false
  /// The PIN that guards the key; `nil` for none. ``access`` must have the accessibility of the PIN item, and be on this
  /// device only if that is.
  public var pin: PINItem?

  /// A credential with SHA-1 and the usual number of digits.
  public init(_ kind: OTPAuthURI.Kind, name: String, role: OTPRole = .prover) {
    self.name = name
    self.kind = kind
    self.role = role
  }

  var limits: OfflineLimits { OfflineLimits(codes: offlineCodes, seconds: offlineSeconds) }

  /// The parameters and the key, checked.
  func uri(key: consuming SecretBytes) throws(VaultError) -> OTPAuthURI {
    do throws(OTPError) {
      return try OTPAuthURI(
        kind: kind, issuer: issuer, account: account ?? "", secret: key, algorithm: algorithm, digits: digits,
        allowingWeak: allowsWeak)
    } catch { throw VaultError(otpParameters: error) }
  }
}
