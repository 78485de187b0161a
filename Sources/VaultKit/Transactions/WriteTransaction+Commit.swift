import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
  /// The last step before COMMIT.
  mutating func sealHead() throws(VaultError) {
    guard changes.underWay == 0 else {
      throw VaultError(
        .io, "an operation failed half way, so nothing of the transaction was written", hint: "try again")
    }
    guard changes.isDirty else { return }
    if changes.needsCleaning { head!.cleaningPending = true }
    try session.seal(&head!, seals: changes.seals)
  }

  /// The first step: a file with another inode, or with fewer commits than were seen of it, is a copy or an old state
  /// that was put back, so its HOTP counters may be behind their servers.
  mutating func adoptFile() throws(VaultError) {
    let inode = session.store.fileIdentity
    let isOld = head!.sequence < session.seenSequence
    guard head!.inode != inode || isOld else { return }
    if head!.inode != 0 {
      var provers: [ItemID] = []
      // A credential that does not open gives no code.
      try session.forEachItem(damaged: { _, _ in }) { item throws(VaultError) in
        if item.isHOTPProver { provers.append(item.id) }
        return true
      }
      for id in provers {
        do throws(VaultError) { try changeState(of: id) { $0.needsResync = true } } catch {
          guard error.isUnreadable, changes.underWay == 0 else { throw error }
        }
      }
      try log(.copyDetected, detail: "\(provers.count) counters need a resynchronisation")
    }
    if head!.inode != 0, head!.inode != inode { head!.isCopy = true }
    head!.inode = inode
    // From here on this file is the newest again.
    head!.sequence = max(head!.sequence, session.seenSequence)
    changes.isDirty = true
  }

  /// Writes a changed header with its slots: `config` + 1 in both places.
  @discardableResult
  mutating func set(_ change: KeyChange) throws(VaultError) -> HeaderRow {
    var change = change
    change.header.config = session.keys.header.config + 1
    head!.config = change.header.config
    let row = change.row
    try stored { () throws(StorageError) in
      try session.store.replaceSlots(change.slots)
      try session.store.setHeader(row)
    }
    session.ownHeader = row
    changes.seals += change.seals
    changes.isDirty = true
    changes.needsCleaning = true
    return row
  }
}
