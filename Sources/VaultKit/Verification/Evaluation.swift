public import VaultFormat

/// The outcome of a verification without an item. ``Vault/isCurrent(_:within:)`` says whether it still counts.
///
/// Only a vault makes one. It is bound to that vault value, with the caller that it serves (``Vault/asked(by:)``), and to
/// its session, which ends when the vault is locked. It ends too with what the person showed: when the passcode is
/// changed or the member is removed.
public struct Evaluation: Sendable {
  /// What the person satisfied.
  public let constraints: Constraints
  let caller: Caller?
  let session: UInt64
  let boot: [UInt8]
  /// In milliseconds of the boot clock.
  let madeAt: UInt64
  /// The factors that the person showed.
  let shown: ShownFactors
}
