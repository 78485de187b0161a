import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// An item with constraints, before a verification.
struct LockedItem: Sendable {
  let item: Item
  let row: ItemRow
  let factors: FactorSlots
  /// `nil` while the vault is locked.
  let classKey: SharedSecret?
  /// Empty while the vault is locked, and for an item without a secret.
  let alternatives: [Alternative]
  let whyLocked: VaultError?
  /// When it was read, in the vault's time.
  let now: Instant
}
