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

  /// Completes a rotation that was interrupted before its key was moved to the named file. Best effort: the vault
  /// also finds the key in the file where it waits.
  func finishPromotion() {
    guard !isReadOnly else { return }
    try? DeviceKeys(currentProtector, of: opened.header.vault).finishPromotionAtOnce(in: opened)
    forgetLeftKey()
  }

  /// The header as last opened, and the path of the file.
  var opened: OpenedVault { withStore { OpenedVault($0.keys.header, at: $0.rows.path) } }
}
