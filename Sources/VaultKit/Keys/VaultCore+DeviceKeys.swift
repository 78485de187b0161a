import DeviceKeys
import VaultFormat
import VaultStorage

extension VaultCore {
  /// The device keys with this vault's id in `protector`, including the present key, and the key that a restore
  /// stored beside a named file.
  package func deviceKeys(in protector: any Protector) throws(VaultError) -> [FoundDeviceKey] {
    let left = RotationLock.takeLeft(opened.path)?.left ?? ""
    // Another process may have made another key meanwhile.
    let (header, path) = (withPresentKeys { $0.header }, opened.path)
    let keys = DeviceKeys(protector, of: header.vault)
    let files = RestoreFiles(path: path)
    let ids = try keys.ids()
    var found = try ids.map { id throws(VaultError) in
      let standing: FoundDeviceKey.Standing =
        if id == header.deviceKey {
          .present
        } else if let keeper = try files.keeper(of: id, header.vault) {
          Self.standing(keptFor: keeper)
        } else if header.replacedKeys.contains(id) {
          .replaced
        } else {
          id == PendingDeviceKey.key(in: left, of: header.vault) ? .left : .unknown
        }
      return FoundDeviceKey(id: id, place: keys.place(of: id), standing: standing)
    }
    if let named = protector as? FileProtector, let aside = named.pathBeforeRestore,
      let id = named.keyBeforeRestore, !ids.contains(id)
    {
      // This key is never `.replaced`, so it is not deleted even if the vault has replaced it.
      let keeper = try files.keeper(of: id, header.vault)
      found.append(
        FoundDeviceKey(
          id: id, place: aside, standing: keeper.map { Self.standing(keptFor: $0) } ?? .unknown))
    }
    return found
  }

  private static func standing(keptFor keeper: RestoreFiles.Keeper) -> FoundDeviceKey.Standing {
    keeper.isReadable ? .needed(by: keeper.file) : .perhapsNeeded(by: keeper.file)
  }

  /// Opens the vault again with its present key, then deletes the keys in `protector` that the vault has replaced, and
  /// one that a killed process left. If a file beside the vault cannot be read, all keys stay, because it is unknown which
  /// key that file needs.
  package func deleteReplacedKeys(in protector: any Protector) throws(VaultError) -> KeyRemoval {
    let (vault, path) = (opened.header.vault, opened.path)
    let keys = DeviceKeys(protector, of: vault)
    let lock = try keys.lock()
    defer { lock?.keep() }
    let proof = try VaultCore.open(at: path, protector: currentProtector, environment: environment)
    // A named file may hold a replaced key while the present key waits beside it: first move the present key into the
    // file.
    try? keys.finishPromotion(in: proof.opened, keepingAll: true)
    var removal = KeyRemoval()
    do throws(VaultError) { removal.removed += try proof.removeLeftKey(in: [protector]) } catch {
      removal.failures.append(error)
    }
    let found = try proof.deviceKeys(in: protector)
    removal.failures += Self.obstacles(found, replaced: proof.opened.header.replacedKeys)
    let replaced = found.filter { $0.standing == .replaced }
    guard !replaced.isEmpty else { return removal }
    // A commit whose synchronization failed can be readable now but lost after a crash. So before deleting a key that
    // an older state needs, move the commit that names the present key into the file itself.
    try proof.moveLogIntoFile()
    // A replaced key that could not get a second name is deleted now.
    try keys.finishPromotion(in: proof.opened, keepingAll: false)
    for key in replaced {
      do throws(VaultError) { try keys.delete(key.id, replacedIn: proof.opened) } catch {
        removal.failures.append(error)
      }
    }
    let left = try keys.ids()
    removal.removed += replaced.filter { !left.contains($0.id) }
    return removal
  }

  /// One error for each file beside the vault that cannot be read and so prevents the deletion of replaced keys.
  private static func obstacles(_ found: [FoundDeviceKey], replaced: [DeviceKeyID]) -> [VaultError] {
    var files: [String] = []
    for key in found where replaced.contains(key.id) {
      if case .perhapsNeeded(let file) = key.standing, !files.contains(file) { files.append(file) }
    }
    return files.map { file in
      VaultError(
        .io, "no replaced device key was removed, because \(file) cannot be read and may need one of them",
        hint: .removeOldKeys)
    }
  }

  /// Ends a change of the device key: opens the vault with the new key, then deletes the replaced one.
  func retire(
    _ before: DeviceKeyID, keptBy old: any Protector, for new: any Protector
  ) throws(VaultError) -> ReplacedKey {
    let (header, path) = (opened.header, opened.path)
    let proof = try VaultCore.open(at: path, protector: new, environment: environment)
    // The commit that named the new key was made under the old one.
    proof.noteState()
    do throws(VaultError) {
      let keeper = try RestoreFiles(path: path).keeper(of: before, header.vault)
      try DeviceKeys(new, of: header.vault).promote(over: before, in: proof.opened)
      if let keeper {
        return keeper.isReadable ? .kept(for: keeper.file) : .perhapsNeeded(by: keeper.file)
      }
      guard proof.opened.header.replacedKeys.contains(before) else {
        return .kept(for: "the vault that this file is a copy of")
      }
      try DeviceKeys(old, of: header.vault).delete(before, replacedIn: proof.opened)
      return .deleted
    } catch {
      throw VaultError(
        error.code,
        "the vault has its new device key, but the old one could not be removed: \(error.message)",
        hint: .removeOldKey,
        underlying: error.underlying)
    }
  }

  /// Completes a rotation that was interrupted before its key was moved to the named file. Best effort: the vault
  /// also finds the key in the file where it waits.
  func finishPromotion() {
    guard !isReadOnly else { return }
    try? DeviceKeys(currentProtector, of: opened.header.vault).finishPromotionAtOnce(in: opened)
    forgetLeftKey()
  }

  /// The header as last opened, and the path of the file.
  var opened: OpenedVault { withStore { OpenedVault($0.keys.header, at: $0.rows.path) } }

  private func moveLogIntoFile() throws(VaultError) {
    var held = HeldStore(of: session)
    guard try held.store.rows.checkpoint(truncate: false) else { throw VaultError.otherProcesses }
  }
}
