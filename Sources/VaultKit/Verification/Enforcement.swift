import VaultFormat

/// How a constraint is enforced.
@nonexhaustive
public enum Enforcement: Sendable, Equatable {
  /// A key derived from the text that the person types protects the item's data key. The item does not open without
  /// it.
  case keyDerivation
  /// The program that opens the item checks it, without a key. The text says why.
  case advisory(String)
}

extension AccessControl {
  /// How each constraint is enforced in a vault with these sources; empty without constraints.
  public func enforcement(with sources: VerificationSources) -> [ConstraintEnforcement] {
    let listed =
      constraints.single + (constraints.contains(.applicationPassword) ? [.applicationPassword] : [])
    return listed.map { constraint in
      ConstraintEnforcement(constraint: constraint, enforcement: Self.enforcement(of: constraint, sources))
    }
  }

  private static func enforcement(of constraint: Constraints, _ sources: VerificationSources) -> Enforcement {
    guard constraint != .devicePasscode, constraint != .applicationPassword else { return .keyDerivation }
    switch (sources.hasFingers, sources.hasLogin && constraint == .userPresence) {
    case (false, false): return .keyDerivation
    case (true, false):
      return .advisory(
        "a fingerprint reader gives no key: whoever has the device key opens it without a finger")
    case (false, true):
      return .advisory("PAM gives no key: whoever has the device key opens it without the login password")
    case (true, true):
      return .advisory(
        "neither a fingerprint reader nor PAM gives a key: whoever has the device key opens it without them")
    }
  }
}
