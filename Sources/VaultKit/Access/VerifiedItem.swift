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
  /// The public halves of the factors that the person showed. If the header has another half now, the access rule has
  /// changed.
  let halves: [Factor: [UInt8]]
  let material: UInt64
  let policyHash: [UInt8]
}
