public import VaultFormat

/// What a protector holds for a vault.
public enum ProtectorState: Sendable {
  /// No key of this vault.
  case absent
  /// It may hold one; a person has to unlock it first.
  case locked
  /// It cannot be reached, and why.
  case unavailable(VaultError)
  /// It holds keys of this vault.
  case present
}
