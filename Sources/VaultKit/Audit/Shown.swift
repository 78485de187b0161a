/// How a prompt ended. An open registry; numbers of section 9.
public struct PromptOutcome: RawRepresentable, Hashable, Sendable {
  /// The number in the file.
  public let rawValue: UInt8
  /// An outcome of this number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The person answered; the result says whether the answer was right.
  public static let answered = PromptOutcome(rawValue: 1)
  /// The person declined.
  public static let cancelled = PromptOutcome(rawValue: 2)
  /// A signal ended the process.
  public static let signal = PromptOutcome(rawValue: 3)
  /// There was no answer for as long as a prompt waits.
  public static let timeout = PromptOutcome(rawValue: 4)

  /// Nobody saw a prompt. Never in the file.
  package static let notShown = PromptOutcome(rawValue: 0)

  /// The word for it in listings and JSON, or its number.
  public var name: String {
    switch self {
    case .answered: "answered"
    case .cancelled: "cancelled"
    case .signal: "signal"
    case .timeout: "timeout"
    default: String(rawValue)
    }
  }
}

/// What the log calls a secret.
package enum SecretName: String, Sendable {
  case passcode = "vault passcode"
  case newPasscode = "new vault passcode"
  case applicationPassword = "application password"
  case newApplicationPassword = "new application password"
  case phrase = "phrase of a member"
  case newPhrase = "new phrase"
  case finger = "finger of a member"
  case login = "login password"
  case recoveryCode = "recovery code"
  case newRecoveryCode = "new recovery code"
}

/// How a secret reached the vault. It travels with the secret to the place that logs the verdict.
package struct Shown: Sendable {
  /// How the prompt ended; nil where no person was asked.
  var outcome: PromptOutcome?
  /// The item that it was asked for.
  var item: Item?
  /// What happened before it and is not logged yet.
  var earlier: [AuditNote] = []

  /// It came from a channel, or the program handed it over: no person was asked.
  package static let given = Shown()
  /// A person typed it at a prompt.
  package static let typed = Shown(outcome: .answered)

  /// The entries of it, with the verdict.
  func notes(_ secret: SecretName, result: UInt16 = 0) -> [AuditNote] {
    let own = AuditNote(
      operation: outcome == nil ? .given : .promptShown, item: item?.id, kind: item?.kind, result: result,
      detail: secret.rawValue, outcome: outcome)
    return earlier + [own]
  }
}

extension VaultError {
  /// How the prompt that gave this error ended; nil where no person was asked.
  package var promptEnd: PromptOutcome? {
    if let promptOutcome { return promptOutcome == .notShown ? nil : promptOutcome }
    return switch code {
    case .cancelled: .cancelled
    case .authenticationFailed, .malformed: .answered
    default: nil
    }
  }
}
