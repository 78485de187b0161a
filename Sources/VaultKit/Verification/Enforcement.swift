import VaultFormat

/// What makes a constraint hold.
public enum Enforcement: Sendable, Equatable {
  /// The item's data key lies behind what the person types: without it nobody opens the item.
  case keyDerivation
  /// A check in the program that opens the item, with no key behind it; the text says why.
  case advisory(String)
}

extension AccessControl {
  /// What makes each constraint hold in a vault with these sources; empty without constraint.
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
