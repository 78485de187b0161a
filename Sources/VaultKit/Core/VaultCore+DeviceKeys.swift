import VaultStorage

/// A device key of this vault's id that a protector keeps.
package struct FoundDeviceKey: Sendable {
  /// What this vault knows of it.
  package enum Standing: Sendable, Equatable {
    /// It opens this vault.
    case present
    /// This vault had it and has another one now (header field 20).
    case replaced
    /// A file that a restore has left beside the vault names it, or cannot be read.
    case needed(by: String)
    /// No file is known to name it. A vault elsewhere with the same id may: a backup restored to another place has it.
    case unknown
  }

  package let id: DeviceKeyID
  /// Its file, or who keeps it.
  package let place: String
  package let standing: Standing
}

/// What became of the key that a rotation replaced.
package enum ReplacedKey: Sendable, Equatable {
  case deleted
  /// It still exists: this file names it, or cannot be read.
  case kept(for: String)
}

extension VaultCore {
  /// The device keys with this vault's id in `protector`, the present one among them, and the one that a restore has put
  /// beside a named file.
  package func deviceKeys(in protector: any Protector) throws(VaultError) -> [FoundDeviceKey] {
    let (header, path) = headerAndPath
    let keys = DeviceKeys(protector, of: header.vault)
    let files = RestoreFiles(path: path)
    let ids = try keys.ids()
    var found = try ids.map { id throws(VaultError) in
      let standing: FoundDeviceKey.Standing =
        if id == header.deviceKey {
          .present
        } else if let file = try files.keeper(of: id, header.vault) {
          .needed(by: file)
        } else {
          header.replacedKeys.contains(id) ? .replaced : .unknown
        }
      return FoundDeviceKey(id: id, place: keys.place(of: id), standing: standing)
    }
    if let named = protector as? FileProtector, let aside = named.pathBeforeRestore,
      let id = named.keyBeforeRestore, !ids.contains(id)
    {
      // Never `.replaced`: it is not deleted, whatever the vault has done with that key.
      let keeper = try files.keeper(of: id, header.vault)
      found.append(
        FoundDeviceKey(id: id, place: aside, standing: keeper.map { .needed(by: $0) } ?? .unknown))
    }
    return found
  }

  /// Deletes the keys in `protector` that this vault has replaced, after it was opened once more with its present key.
  ///
  /// - Returns: The keys that are gone.
  /// - Throws: `policy` where a file beside the vault cannot be read: the key that it needs is unknown.
  package func deleteReplacedKeys(in protector: any Protector) throws(VaultError) -> [FoundDeviceKey] {
    let (header, path) = headerAndPath
    let keys = DeviceKeys(protector, of: header.vault)
    let lock = try keys.lock()
    defer { lock?.keep() }
    for file in try RestoreFiles(path: path).all() { _ = try VaultCore.outline(at: file) }
    let proof = try VaultCore.open(at: path, protector: currentProtector, environment: environment)
    // A named file may hold a replaced key while the present key waits beside it: first move the present key into the
    // file.
    try? keys.finishPromotion(in: proof, keepingAll: true)
    let replaced = try proof.deviceKeys(in: protector).filter { $0.standing == .replaced }
    guard !replaced.isEmpty else { return [] }
    // A commit whose synchronization failed can be read now and be gone after a crash. So the commit that names the
    // present key is moved into the file itself before a key is deleted that an older state needs.
    try proof.moveLogIntoFile()
    // A replaced key that could not get a second name is deleted now.
    try keys.finishPromotion(in: proof, keepingAll: false)
    for key in replaced { try keys.delete(key.id, replacedIn: proof) }
    let left = try keys.ids()
    return replaced.filter { !left.contains($0.id) }
  }

  /// Ends a change of the device key: opens the vault with the new key, then deletes the replaced one.
  func retire(
    _ before: DeviceKeyID, keptBy old: any Protector, for new: any Protector
  ) throws(VaultError) -> ReplacedKey {
    let (header, path) = headerAndPath
    let proof = try VaultCore.open(at: path, protector: new, environment: environment)
    do throws(VaultError) {
      let keeper = try RestoreFiles(path: path).keeper(of: before, header.vault)
      try DeviceKeys(new, of: header.vault).promote(over: before, in: proof)
      if let keeper { return .kept(for: keeper) }
      guard proof.headerAndPath.header.replacedKeys.contains(before) else {
        return .kept(for: "the vault that this file is a copy of")
      }
      try DeviceKeys(old, of: header.vault).delete(before, replacedIn: proof)
      return .deleted
    } catch {
      throw VaultError(
        error.code,
        "the vault has its new device key, but the old one could not be removed: \(error.message)",
        hint: "the old key no longer opens this vault; remove it with 'vaultctl doctor --remove-old-keys'",
        underlying: error.underlying)
    }
  }

  /// Completes a rotation that was interrupted before its key was moved to the named file. Best effort: the key is also
  /// found where it waits.
  func finishPromotion() {
    guard !isReadOnly else { return }
    try? DeviceKeys(currentProtector, of: headerAndPath.header.vault).finishPromotionAtOnce(in: self)
  }

  /// The header as it was opened last, and the file.
  var headerAndPath: (header: Header, path: String) { withSession { ($0.keys.header, $0.store.path) } }

  private func moveLogIntoFile() throws(VaultError) {
    try withSessionThrowing { session throws(VaultError) in
      let isDone = try stored { () throws(StorageError) in try session.store.checkpoint(truncate: false) }
      guard isDone else { throw VaultError(StorageError.busy) }
    }
  }

  /// Writes the changes of `body` without a commit, and rolls them back. So a full disk or a vault that cannot be
  /// written is found before something outside the vault depends on the change.
  func rehearse(_ body: (inout WriteTransaction) throws(VaultError) -> Void) throws(VaultError) {
    do {
      try write { (transaction: inout WriteTransaction) in
        try body(&transaction)
        try transaction.sealHead()
        try stored { () throws(StorageError) in try transaction.session.store.writeOut() }
        throw Rehearsed()
      }
    } catch is Rehearsed {} catch let error as VaultError { throw error } catch {
      preconditionFailure("VaultCore.rehearse: an error of another type")
    }
  }

  private struct Rehearsed: Error {}
}
