/// What happened to an open vault: see `Vault.events()`.
@nonexhaustive
public enum VaultEvent: Sendable, Hashable {
  /// The keys that the passcode opened were wiped: by a lock, or because another process replaced them.
  case locked
  /// The passcode opened keys that were not open.
  case unlocked
  /// Another process has changed the keys of the vault: its passcode, its recovery code, its members, its device key or its epoch.
  case keysChanged
}
