/// How a prompt ended. An open registry: a later version of the file format can add numbers.
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
  /// The person did not answer within the time that a prompt waits.
  public static let timeout = PromptOutcome(rawValue: 4)
  /// The program ended the prompt.
  public static let program = PromptOutcome(rawValue: 5)

  /// No prompt was shown. Never in the file.
  package static let notShown = PromptOutcome(rawValue: 0)

  /// The name for listings and JSON, or the number if it has no name.
  public var name: String {
    switch self {
    case .answered: "answered"
    case .cancelled: "cancelled"
    case .signal: "signal"
    case .timeout: "timeout"
    case .program: "program"
    default: String(rawValue)
    }
  }
}

extension VaultError {
  /// How the prompt that gave this error ended; nil where no person was asked.
  package var promptEnd: PromptOutcome? {
    if let promptOutcome { return promptOutcome == .notShown ? nil : promptOutcome }
    return switch code {
    case .cancelled: .cancelled
    case .appCancelled: .program
    case .timedOut: .timeout
    case .authenticationFailed, .malformed: .answered
    default: nil
    }
  }
}
