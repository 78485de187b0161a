import VaultFormat

/// The ways in which a vault can verify a person.
public struct VerificationSources: Sendable, Equatable {
  /// A passcode is set.
  public var hasPasscode: Bool
  /// Phrases are members of the enrolled set.
  public var hasPhrases: Bool
  /// Fingers of a fingerprint reader are members of the enrolled set.
  public var hasFingers: Bool
  /// The login password is a member, for presence.
  public var hasLogin: Bool

  /// Any sources. ``Vault/verificationSources()`` returns those of a vault.
  public init(
    hasPasscode: Bool = false, hasPhrases: Bool = false, hasFingers: Bool = false, hasLogin: Bool = false
  ) {
    self.hasPasscode = hasPasscode
    self.hasPhrases = hasPhrases
    self.hasFingers = hasFingers
    self.hasLogin = hasLogin
  }
}
