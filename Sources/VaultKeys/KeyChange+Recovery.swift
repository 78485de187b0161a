import VaultStorage
package import VaultFormat
package import SecretMemory

/// The recovery half (header field 12) and its slots, one for the root key of each generation in force.
extension KeyChange {
  /// Replaces the second opener of the root keys; only the public half is stored.
  ///
  /// - Parameter trust: The trust key, if a passcode is set: it authenticates the halves that keys are wrapped to.
  package mutating func setRecovery(_ code: borrowing RecoveryCode, trust: SharedSecret? = nil)
    throws(VaultError)
  {
    let publicKey = try code.publicKey()
    forgetRecovery()
    header.recoveryKey = publicKey
    try putRecovery()
    if let trust { try authenticate(with: trust) }
  }

  /// Removes the recovery code, which then opens nothing.
  ///
  /// - Parameter trust: As for ``setRecovery(_:trust:)``.
  package mutating func removeRecovery(trust: SharedSecret? = nil) throws(VaultError) {
    forgetRecovery()
    if let trust { try authenticate(with: trust) }
  }

  /// Seals the root keys for the recovery half in force. Does nothing where there is none, or field 19 revokes it.
  package mutating func putRecovery() throws(VaultError) {
    guard let publicKey = header.recoveryHalf else { return }
    for generation in generations {
      let address = SlotAddress(.root, generation: generation.generation, opener: .recovery)
      let body = try RecoveryCode.sealRoot(
        generation.root, for: publicKey, at: address, vault: header.vault, random: random)
      put(address, body)
    }
  }

  /// In a vault with a passcode, field 12 stays, because the factor MAC covers it: the next unlock removes it.
  package mutating func revokeRecovery() {
    slots.removeAll { $0.opener == SlotOpener.recovery.rawValue }
    if header.hasPasscode { header.revoked.insert(.recovery) } else { header.recoveryKey = nil }
  }

  private mutating func forgetRecovery() {
    slots.removeAll { $0.opener == SlotOpener.recovery.rawValue }
    header.recoveryKey = nil
    header.revoked.remove(.recovery)
  }
}
