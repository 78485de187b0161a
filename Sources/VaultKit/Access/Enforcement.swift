import VaultFormat

/// What makes a constraint hold.
public enum Enforcement: Sendable, Equatable {
  /// The item's data key lies behind what the person types: without it nobody opens the item.
  case keyDerivation
  /// A check in the program that opens the item, with no key behind it; the text says why.
  case advisory(String)
}

/// What a vault can verify a person with.
public struct VerificationSources: Sendable, Equatable {
  /// A passcode is set.
  public var hasPasscode: Bool
  /// Phrases are members of the enrolled set.
  public var hasPhrases: Bool
  /// Fingers of a fingerprint reader are members of the enrolled set.
  public var hasFingers: Bool
  /// The login password is a member, for presence.
  public var hasLogin: Bool

  /// Sources; those of a vault are given by ``Vault/verificationSources()``.
  public init(
    hasPasscode: Bool = false, hasPhrases: Bool = false, hasFingers: Bool = false, hasLogin: Bool = false
  ) {
    self.hasPasscode = hasPasscode
    self.hasPhrases = hasPhrases
    self.hasFingers = hasFingers
    self.hasLogin = hasLogin
  }
}

/// One constraint and what makes it hold.
public struct ConstraintEnforcement: Sendable, Equatable {
  /// A single constraint, or the application password.
  public let constraint: Constraints
  /// What makes it hold.
  public let enforcement: Enforcement
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
