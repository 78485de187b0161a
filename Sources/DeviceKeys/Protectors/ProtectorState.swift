public import VaultFormat

/// What a protector holds for a vault.
@nonexhaustive
public enum ProtectorState: Sendable {
  /// No key of this vault.
  case absent
  /// The protector may hold a key; a person must unlock it first.
  case locked
  /// It cannot be reached, and why.
  case unavailable(VaultError)
  /// It holds keys of this vault.
  case present
}
