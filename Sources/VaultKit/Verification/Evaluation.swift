public import VaultFormat

/// The outcome of a verification without an item. ``Vault/isCurrent(_:within:)`` says whether it still counts.
///
/// Only a vault makes one. It is bound to that vault value and to its session, which ends when the vault is locked.
public struct Evaluation: Sendable {
  /// What the person satisfied.
  public let constraints: Constraints
  let session: UInt64
  let boot: [UInt8]
  /// In milliseconds of the boot clock.
  let madeAt: UInt64
}
