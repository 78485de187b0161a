/// The result of ``Vault/openOrCreate(at:protector:passcode:)``.
public struct OpenedOrCreatedVault: Sendable {
  /// The open vault.
  public let vault: Vault
  /// Whether this call created it. Of all processes that make the call at once, at most one gets `true`.
  public let isNew: Bool

  package init(vault: Vault, isNew: Bool) {
    self.vault = vault
    self.isNew = isNew
  }
}
