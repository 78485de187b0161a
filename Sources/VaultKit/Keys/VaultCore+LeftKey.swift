import DeviceKeys
import VaultFormat
import VaultStorage

/// The new device key of a process that was killed before a commit named it (``RotationLock``).
extension VaultCore {
  /// Stores a new key and makes the commit that names it. From before the one until after the other, the key is noted beside the
  /// vault; the key that another process noted and left is deleted first. The note stays if the commit may appear after a crash.
  ///
  /// - Parameters:
  ///   - protectors: Where a key may have been left.
  ///   - commit: Calls ``PendingDeviceKey/willBeNamed()`` directly before its commit.
  /// - Throws: ``VaultError/Code/fileExists`` if a file of another kind has the name of the note.
  func naming<R>(
    _ pending: inout PendingDeviceKey, keptBy protectors: [any Protector],
    _ commit: (inout PendingDeviceKey) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let path = opened.path
    let note = try Self.rotationLock(at: path)
    do throws(VaultError) {
      // A key that cannot be deleted now opens nothing.
      _ = try? removeLeftKey(noted: note, in: protectors)
      do throws(StorageError) { try note.note(pending.name) } catch { throw VaultError(error, at: path) }
      try pending.store()
      let result = try commit(&pending)
      note.finish()
      return result
    } catch {
      if pending.abandon() { note.finish() }
      throw error
    }
  }

  private static func rotationLock(at path: String) throws(VaultError) -> RotationLock {
    do throws(StorageError) { return try RotationLock.take(path) } catch {
      if case .refusedBeside(_, let file) = error { throw VaultNames.taken(file) }
      throw VaultError(error, at: path)
    }
  }

  /// Deletes the key that a killed process left, and its note. Does nothing while a process replaces the key.
  ///
  /// - Parameter protectors: Where it may be; `nil` for the present protector. If it is in none of them, the note stays.
  /// - Returns: The deleted key.
  @discardableResult
  func removeLeftKey(in protectors: [any Protector]? = nil) throws(VaultError) -> [FoundDeviceKey] {
    guard !isReadOnly, let note = RotationLock.takeLeft(opened.path) else { return [] }
    let removed = try removeLeftKey(noted: note, in: protectors ?? [currentProtector])
    if !removed.isEmpty { note.finish() }
    return removed
  }

  /// A commit comes first that does not name the key: after it, a commit that failed and named the key can no longer appear.
  private func removeLeftKey(
    noted note: borrowing RotationLock, in protectors: [any Protector]
  ) throws(VaultError) -> [FoundDeviceKey] {
    guard let key = PendingDeviceKey.key(in: note.left, of: opened.header.vault) else { return [] }
    var transaction = try beginWriting()
    transaction.changes.isDirty = true
    let isNamed = transaction.store.keys.header.deviceKey == key
    try transaction.commit()
    var removed: [FoundDeviceKey] = []
    for protector in protectors where !isNamed {
      let keys = DeviceKeys(protector, of: opened.header.vault)
      guard try keys.ids().contains(key) else { continue }
      let found = FoundDeviceKey(id: key, place: keys.place(of: key), standing: .left)
      try keys.deleteLeft(key, in: opened)
      removed.append(found)
    }
    return removed
  }

  /// Removes a note that says nothing any more: its key is the vault's, or was and is replaced, or another file had the name.
  func forgetLeftKey() {
    let (header, path) = (opened.header, opened.path)
    guard let note = RotationLock.takeLeft(path) else { return }
    if let key = PendingDeviceKey.key(in: note.left, of: header.vault), key != header.deviceKey,
      !header.replacedKeys.contains(key)
    {
      return
    }
    note.finish()
  }
}
