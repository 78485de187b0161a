import VaultFormat

/// One constraint and what makes it hold.
public struct ConstraintEnforcement: Sendable, Equatable {
  /// A single constraint, or the application password.
  public let constraint: Constraints
  /// What makes it hold.
  public let enforcement: Enforcement
}
