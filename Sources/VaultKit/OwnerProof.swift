public import VaultKeys

/// What shows that the owner of a vault agrees that another one takes its place.
@nonexhaustive
public enum OwnerProof: ~Copyable, Sendable {
  /// The passcode of the vault that is replaced. The attempt counts there.
  case passcode(Passcode)
  /// The recovery code of the vault that is replaced.
  case recoveryCode(RecoveryCode)
}
