import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// A ``RecoveryChoice`` in the form that the key change needs: with the public half of the code that was given.
struct RecoverySettlement {
  private let isChosen: Bool
  private let shown: [UInt8]?
  /// Audit notes about how the code was given.
  let notes: [AuditNote]

  init(_ choice: consuming RecoveryChoice?) throws(VaultError) {
    switch consume choice {
    case .none: (isChosen, shown, notes) = (false, nil, [])
    case .some(.drop): (isChosen, shown, notes) = (true, nil, [])
    case .some(.keep(let code)):
      (isChosen, shown, notes) = (true, try code.publicKey(), code.shown?.notes(.recoveryCode) ?? [])
    }
  }

  /// Whether the recovery half stays; also `false` if the vault has none.
  ///
  /// - Throws: ``VaultError/Code/policy`` if nothing was chosen, ``VaultError/Code/authenticationFailed`` for another
  ///   vault's code.
  func keeps(_ header: Header) throws(VaultError) -> Bool {
    guard let half = header.recoveryHalf else {
      guard shown == nil else {
        throw VaultError(.policy, "this vault has no recovery code", hint: "leave it out")
      }
      return false
    }
    guard isChosen else {
      throw VaultError(
        .policy,
        "the vault has a recovery code, which somebody else could have made while there was no passcode",
        hint: "show the code to keep it, or drop it")
    }
    guard let shown else { return false }
    guard isEqualInConstantTime(shown, half) else { throw RecoveryCode.isAnother }
    return true
  }

  /// Keeps or drops the recovery half. Returns whether it dropped one. A kept half gets new slots, because the old
  /// ones may not open with its code.
  func settle(_ change: inout KeyChange) throws(VaultError) -> Bool {
    if try keeps(change.header) {
      try change.putRecovery()
      return false
    }
    let isDropped = change.header.recoveryHalf != nil
    try change.removeRecovery()
    return isDropped
  }
}
