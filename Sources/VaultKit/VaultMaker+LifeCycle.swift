import DeviceKeys
import VaultFormat
import VaultKeys

extension VaultMaker {
  func openOrCreate(
    at path: VaultPath, protector: (any Protector)?, passcode: consuming Passcode?,
    environment: VaultEnvironment
  ) throws(VaultError) -> OpenedOrCreatedVault {
    let (core, isNew) = try VaultCore.openOrCreate(
      at: path.path, protector: protector, passcode: passcode, environment: environment)
    return OpenedOrCreatedVault(vault: Vault(core: core), isNew: isNew)
  }

  func restore(
    from backup: VaultPath, passphrase: consuming Passcode, to path: VaultPath,
    protector: (any Protector)?, environment: VaultEnvironment, progress: @Sendable (VerifyProgress) -> Void
  ) throws(VaultError) -> RestoredVault {
    let made = try VaultCore.restore(
      from: backup.path, passphrase: passphrase, to: path.path,
      protector: try keeper(protector, of: .file, in: environment), environment: environment,
      progress: progress)
    return RestoredVault(
      vault: Vault(core: made.core), report: made.report, path: made.path, oldVault: nil)
  }

  func restore(
    from backup: VaultPath, passphrase: consuming Passcode, replacing path: VaultPath,
    showing proof: consuming OwnerProof?, protector: (any Protector)?, environment: VaultEnvironment,
    progress: @Sendable (VerifyProgress) -> Void
  ) throws(VaultError) -> RestoredVault {
    let replacement = try replacement(
      of: path, by: backup, protector: protector, environment: environment)
    let report = try replacement.run(
      passphrase: passphrase, over: try replacement.point(by: proof), progress: progress)
    let core = try VaultCore.open(at: path.path, protector: protector, environment: environment)
    return RestoredVault(
      vault: Vault(core: core), report: report, path: path.path, oldVault: replacement.aside)
  }

  func droppedItems(
    byRestoring backup: VaultPath, passphrase: consuming Passcode, over path: VaultPath,
    protector: (any Protector)?, environment: VaultEnvironment
  ) throws(VaultError) -> [RestoredItem] {
    let replacement = try replacement(
      of: path, by: backup, protector: protector, environment: environment)
    return try replacement.losses(passphrase: passphrase, over: try replacement.point(by: nil)).dropped
  }

  private func replacement(
    of path: VaultPath, by backup: VaultPath, protector: (any Protector)?, environment: VaultEnvironment
  ) throws(VaultError) -> VaultReplacement {
    let kind = try VaultReplacement.outline(at: path.path).protector
    return try VaultReplacement(
      of: path.path, by: BackupFile(reading: backup.path, beside: path.path),
      protector: try keeper(protector, of: kind, in: environment),
      oldProtector: protector, environment: environment)
  }

  func recover(
    at path: VaultPath, with code: borrowing RecoveryCode, protector: (any Protector)?,
    environment: VaultEnvironment
  ) throws(VaultError) -> RecoveredVault {
    let outline = try VaultOutline(at: path.path)
    let keeper = try keeper(protector, of: outline.protector, in: environment)
    try refusePresentKey(of: outline, in: keeper)
    // A wrong protector must not cost the items of this device.
    if protector != nil, let named = try? environment.protector(outline.protector) {
      try refusePresentKey(of: outline, in: named, unlessOutOfReach: outline.protector != .file)
    }
    let made = try VaultCore.recover(
      at: path.path, with: code, protector: keeper, environment: environment)
    return RecoveredVault(vault: Vault(core: made.core), lost: made.lost)
  }

  /// Refuses a recovery while the device key is there, or is only locked or out of reach.
  ///
  /// - Parameter unlessOutOfReach: Whether a key that is out of reach is lost: its keeper is not on this machine, and
  ///   the caller named another one.
  private func refusePresentKey(
    of outline: VaultOutline, in keeper: any Protector, unlessOutOfReach: Bool = false
  ) throws(VaultError) {
    do throws(VaultError) {
      _ = try DeviceKeys(keeper, of: outline.vault).load(outline.deviceKey)
    } catch {
      if unlessOutOfReach, error.code == .deviceKeyUnavailable { return }
      guard [.deviceKeyAbsent, .deviceKeyWrong, .deviceKeyDamaged].contains(error.code) else { throw error }
      return
    }
    throw VaultError(
      .policy, "the device key is not lost", hint: "open the vault with the protector that has the key")
  }

  /// The protector that is given, or else the standard one of a kind.
  private func keeper(
    _ given: (any Protector)?, of kind: ProtectorKind, in environment: VaultEnvironment
  ) throws(VaultError) -> any Protector {
    if let given { return given }
    return try environment.protector(kind)
  }
}

extension VaultReplacement {
  fileprivate func point(by proof: consuming OwnerProof?) throws(VaultError) -> RestorePoint {
    var proof = proof
    do {
      return try point { core in
        switch proof.take() {
        case .none: return false
        case .passcode(let passcode):
          try core.unlock(with: passcode)
          return false
        case .recoveryCode(let code):
          try core.checkRecoveryCode(code)
          return true
        }
      }
    } catch let error as VaultError { throw error } catch {
      preconditionFailure("VaultReplacement.point(by:): an error of another type")
    }
  }
}
