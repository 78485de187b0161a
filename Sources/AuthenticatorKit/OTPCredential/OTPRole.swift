/// Which side of a one-time password a credential is.
public enum OTPRole: Int64, Sendable {
  /// Keeps the next counter and prints codes.
  case prover = 1
  /// Keeps the last accepted one and judges codes; never prints one.
  case verifier = 2
}
