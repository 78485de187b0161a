/// Why a code was not accepted.
@nonexhaustive
public enum OTPRefusal: Sendable, Hashable {
  /// No counter of the window has this code. Counted as a failure.
  case noMatch
  /// The code is right, but it or a later one has been accepted before. Not counted: the code was known, not
  /// guessed, and one double click must not lock a user out.
  case alreadyUsed
  /// Too many failures: the code was not judged. Not counted.
  case waiting(remainingSeconds: Int64)
}
