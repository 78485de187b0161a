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
  /// Empty while the vault is locked, for an item without a secret, and where the class key alone opens it.
  let alternatives: [Alternative]
  let whyLocked: VaultError?
  /// When it was read, in the vault's time.
  let now: Instant
}
