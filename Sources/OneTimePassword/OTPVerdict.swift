/// The judgment of a verifier about a code. Every verdict but ``OTPRefusal/alreadyUsed`` and
/// ``OTPRefusal/waiting(remainingSeconds:)`` changes the state of the verifier: store the state before anyone sees
/// the verdict.
public enum OTPVerdict: Sendable, Hashable {
  /// The code is right and now used.
  case accepted(OTPAcceptance)
  /// The code is not accepted.
  case refused(OTPRefusal)
}

/// How a code was accepted.
public struct OTPAcceptance: Sendable, Hashable {
  /// The counter or time step of the code; of the second one after a resynchronization.
  public let counter: UInt64
  /// How far that is from the counter or time step that was expected; negative for a clock that is behind.
  public let distance: Int64

  /// What a verifier reports.
  public init(counter: UInt64, distance: Int64) {
    self.counter = counter
    self.distance = distance
  }
}

/// Why a code was not accepted.
public enum OTPRefusal: Sendable, Hashable {
  /// No counter of the window has this code. Counted as a failure.
  case noMatch
  /// The code is right, but it or a later one has been accepted before. Not counted: the code was known, not
  /// guessed, and one double click must not lock a user out.
  case alreadyUsed
  /// Too many failures: the code was not judged. Not counted.
  case waiting(remainingSeconds: Int64)
}
