import DeviceKeys
import VaultFormat
import VaultStorage

extension VaultCore {
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

  private func moveLogIntoFile() throws(VaultError) {
    var held = HeldStore(of: session)
    guard try held.store.rows.checkpoint(truncate: false) else { throw VaultError.otherProcesses }
  }
}
