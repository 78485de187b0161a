public import OneTimePassword
public import VaultKit

/// A credential with a suite to enroll: everything but its key.
///
/// ```swift
/// let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:C-QH64")
/// let new = NewOCRACredential(suite, name: "bank")
/// ```
public struct NewOCRACredential: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// What a code is made of. It never changes. Steps of 0 hours (`T0H`) are refused.
  public var suite: OCRASuite
  /// A prover signs; a verifier judges.
  public var role: OTPRole
  /// The counter of the first code, for a suite with `C`.
  public var counter: UInt64 = 0
  /// How many further counters a verifier tries, for a suite with `T` alone how many steps to either side; at most
  /// ``OCRAVerifier/maximumWindow``, `nil` for 10 and 1.
  public var window: UInt64?
  /// Who accepts the codes, at most 255 bytes; `nil` for none.
  public var issuer: String?
  /// The account at the issuer, at most 255 bytes; `nil` for none.
  public var account: String?
  /// Who may use it and when.
  public var access = AccessControl()
  /// Which operations on it are logged.
  public var audit = AuditPolicy.changes
  /// How many codes a prover makes without a synchronization; `nil` for any number. **Enforced by this library**, as
  /// ``NewOTPCredential/offlineCodes``.
  public var offlineCodes: UInt32?
  /// How many seconds a prover makes codes without a synchronization, from its enrollment on; `nil` for any time.
  /// **Enforced by this library**.
  public var offlineSeconds: UInt32?
  /// Whether a secret of fewer than 80 bits is accepted: for a person whose server chose it.
  public var allowsWeak = false
  /// The PIN that guards the key; `nil` for none. It is not the PIN of a suite with `P`. ``access`` must have the
  /// accessibility of the PIN item, and be on this device only if that is.
  public var pin: PINItem?

  /// A credential with the usual window, whose counter begins at 0.
  public init(_ suite: OCRASuite, name: String, role: OTPRole = .prover) {
    self.name = name
    self.suite = suite
    self.role = role
  }
}
