@_exported public import ErrorRecovery

/// The way out of each failure.
extension VaultError: RecoverableFailure {
  /// The code of the C library or of the kernel behind the failure, where there is one.
  public var cause: String? { underlying.map { "error \($0) of the system or of a library" } }

  /// How to recover from this failure.
  public var recovery: Recovery {
    if isFinal { return .nonRecoverable(action: hint ?? message) }
    return byCode
  }

  private var byCode: Recovery {
    switch code {
    case .lockedOut, .passcodeDelay: .retryable(.after(retryAfter ?? .zero))
    // A consent is not sent again before its time.
    case .policy: retryAfter.map { .retryable(.after($0)) } ?? .startOver
    case .busy: .retryable(.after(retryAfter ?? .zero))
    case .locked, .deviceKeyLocked, .biometryLocked: .retryable(.whenUnlocked)
    // A server that says when to come again is there.
    case .network: .retryable(retryAfter.map { .after($0) } ?? .whenOnline)
    case .outOfStep: .retryable(.whenSynchronized)
    case .interactionNotAllowed, .verificationNeeded, .timedOut: .retryable(.whenSomebodyIsThere)
    default: Self.withOtherInput.contains(code) ? .startOver : .nonRecoverable(action: hint ?? message)
    }
  }

  /// The kinds of failure after which the operation starts over with other input or in another state. All other kinds,
  /// also those of other programs, need a person.
  private static let withOtherInput: Set<Code> = [
    .authenticationFailed, .alreadyUsed, .biokeyLocked, .cancelled, .appCancelled, .pinRefused, .pinReused,
    .malformed,
    .duplicateItem, .itemNotFound, .expired, .wrongState, .sideFile,
  ]
}
