import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// The result of a verification for one item.
struct VerifiedItem: Sendable {
  let item: ItemID
  /// `nil` if the item has no secret.
  let dataKey: SharedSecret?
  let password: PasswordKey?
  let shown: ShownFactors
  let material: UInt64
  let version: UInt64
  let policyHash: [UInt8]
}
