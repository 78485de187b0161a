/// How an operation in the log ended. An open registry: a later version of the file format can add numbers.
public struct AuditResult: RawRepresentable, Hashable, Sendable {
  /// The number in the file.
  public let rawValue: UInt16
  /// A result of this number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// It succeeded.
  public static let success = AuditResult(rawValue: 0)
  /// No item or no member matched.
  public static let notFound = AuditResult(rawValue: 1)
  /// A passcode, code or PIN was wrong, or the vault was locked.
  public static let authenticationFailed = AuditResult(rawValue: 3)
  /// There were too many failures.
  public static let lockedOut = AuditResult(rawValue: 4)
  /// A prompt ended without an answer.
  public static let cancelled = AuditResult(rawValue: 5)
  /// A person was needed, and no person could be asked.
  public static let interactionNotAllowed = AuditResult(rawValue: 6)
  /// The item had expired or was used up.
  public static let expired = AuditResult(rawValue: 7)
  /// A rule of the vault refused the operation.
  public static let refused = AuditResult(rawValue: 9)
  /// The vault file, or the item, was damaged.
  public static let damaged = AuditResult(rawValue: 10)
  /// What the caller gave had the wrong form.
  public static let malformed = AuditResult(rawValue: 12)
  /// It failed for any other reason.
  public static let failed = AuditResult(rawValue: 13)
  /// The version that wrote the entry could not do it.
  public static let unsupported = AuditResult(rawValue: 15)
}

extension VaultError {
  /// The result that the log records for this failure.
  package var auditResult: AuditResult {
    switch code {
    case .itemNotFound, .invalidated: .notFound
    case .authenticationFailed, .alreadyUsed, .locked: .authenticationFailed
    case .lockedOut, .passcodeDelay, .biometryLocked, .biokeyLocked, .blocked: .lockedOut
    case .cancelled, .appCancelled, .timedOut: .cancelled
    case .interactionNotAllowed, .verificationNeeded: .interactionNotAllowed
    case .expired: .expired
    case .policy, .pinRefused, .pinReused: .refused
    case .damaged: .damaged
    case .malformed: .malformed
    case .unsupported, .newerFormat, .olderFormat: .unsupported
    default: .failed
    }
  }
}
