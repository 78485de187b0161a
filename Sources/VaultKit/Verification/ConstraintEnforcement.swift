import VaultFormat

/// One constraint and how it is enforced.
public struct ConstraintEnforcement: Sendable, Equatable {
  /// A single constraint, or the application password.
  public let constraint: Constraints
  /// How it is enforced.
  public let enforcement: Enforcement
}
