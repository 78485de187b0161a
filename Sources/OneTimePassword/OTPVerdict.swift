/// The judgment of a verifier about a code. Every verdict but ``OTPRefusal/alreadyUsed`` and
/// ``OTPRefusal/waiting(remainingSeconds:)`` changes the state of the verifier: store the state before anyone sees
/// the verdict.
public enum OTPVerdict: Sendable, Hashable {
  /// The code is right and now used.
  case accepted(OTPAcceptance)
  /// The code is not accepted.
  case refused(OTPRefusal)
}
