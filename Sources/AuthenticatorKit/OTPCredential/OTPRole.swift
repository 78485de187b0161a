/// The side of a one-time password that a credential is on.
@nonexhaustive
public enum OTPRole: Int64, Sendable {
  /// Keeps the next counter and generates codes.
  case prover = 1
  /// Keeps the last accepted counter and judges codes. It never generates one.
  case verifier = 2
}
