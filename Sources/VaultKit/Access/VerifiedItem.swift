import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What a verification proved of one item.
struct VerifiedItem: Sendable {
  let item: ItemID
  /// `nil` where the item has no secret.
  let dataKey: SharedSecret?
  let password: PasswordKey?
  /// The public halves of the factors that were shown: another one in the header is another rule.
  let halves: [Factor: [UInt8]]
  let material: UInt64
  let policyHash: [UInt8]
}
