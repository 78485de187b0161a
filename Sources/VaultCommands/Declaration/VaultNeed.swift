/// What a verb needs of the vault.
package enum VaultNeed: Sendable {
  case noVault
  case vault
  case unlocked
}
