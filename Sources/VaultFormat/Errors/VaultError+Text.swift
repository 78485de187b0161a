/// Texts for people and for the logs of programs. None contains a secret.
extension VaultError: CustomStringConvertible {
  /// The code, the message and the hint, on one line.
  public var description: String { "\(code): \(message)" + (hint.map { "; \($0)" } ?? "") }

  /// ``message``, under the name that Foundation's `LocalizedError` has for it.
  ///
  /// This library does not link Foundation. A program that does declares once
  /// `extension VaultError: @retroactive LocalizedError {}`, and `localizedDescription` is then the message.
  public var errorDescription: String? { message }

  /// ``hint``, under the name that Foundation's `LocalizedError` has for it.
  public var recoverySuggestion: String? { hint }
}

extension VaultError.Code: CustomStringConvertible {
  /// The word of the code.
  public var description: String { rawValue }

  /// Whether a prompt ended without an answer: by the person, by the program or because nobody answered in time.
  public var isCancellation: Bool { [.cancelled, .appCancelled, .timedOut].contains(self) }

  /// Whether attempts are refused, without judging them, after too many wrong ones.
  public var isLockout: Bool { Self.lockouts.contains(self) }

  private static let lockouts: Set<Self> = [
    .lockedOut, .passcodeDelay, .biometryLocked, .biokeyLocked, .blocked,
  ]

  /// Whether there is no such item, or none that can ever be opened.
  public var isAbsence: Bool { [.itemNotFound, .invalidated].contains(self) }
}
