import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import Synchronization

/// Whether the file is a copy or an older state, and what of it is remembered beside the vault.
extension VaultCore {
  /// In a copy of the file, or an older state, marks what may have been used elsewhere, as the next write would. Who reads a mark
  /// and asks a person calls this first: a mark that only the last write sets comes too late.
  package func markIfCopied() throws(VaultError) {
    let seen = witnessed()
    var transaction = try beginReading()
    if transaction.store.rows.isReadOnly { return }
    transaction.store.witness = seen.commit
    let head = try transaction.store.head()
    if transaction.store.keys.header.deviceKey == seen.key,
      head.fileIdentity == transaction.store.rows.fileIdentity, try !transaction.store.isBehind(head)
    {
      return
    }
    transaction.end()
    try beginWriting().commit()
  }

  /// Tells the protector of the state that the file has now. Best effort.
  func noteState() {
    do throws(VaultError) {
      var transaction = try beginReading()
      let commit = try transaction.store.head().commit
      let (key, vault) = (transaction.store.keys.header.deviceKey, transaction.store.vault)
      // A protector can hang, and must not keep the store then.
      transaction.end()
      session.note(commit, under: key, of: vault)
    } catch {}
  }

  /// Whether the protector remembers the newest commit that this process has made. If not, an older state of the file that somebody puts
  /// back is not noticed.
  package var remembersCommit: Bool {
    guard let (key, sequence) = session.lastNoted else { return true }
    // Another process may have told a later one.
    if let seen = session.seen(under: key, of: withStore { $0.vault }),
      !SeenCommit.replaces(sequence, seen.sequence)
    {
      return true
    }
    // Or it has replaced the key, and with it what is remembered.
    return (try? keysNow().header.deviceKey) != key
  }

  /// Whether ``remembersCommit`` is false because no file can be made, and that was said: when the vault file was new here. It stays so,
  /// and a line at each change would hide the others; `doctor` says it at any time.
  package func takesForKnown() -> Bool {
    guard let (key, _) = session.lastNoted,
      session.protector.withLock({ $0 }).pathOfWitness(of: key, in: withStore { $0.vault }) == nil
    else { return false }
    return checkedAsCopy == nil || session.isToldOfWitness.exchange(true, ordering: .relaxed)
  }

  /// How many rows the opening checked because the file is a copy or an older state; `nil` if it is neither.
  package var checkedAsCopy: UInt64? { withStore { $0.checkedAsCopy } }

  /// The number of a commit that was seen on this machine and was not in the file when it was opened: an older state was put back,
  /// or the file went on from one. `nil` if no commit is known to be missing.
  package var missingCommit: UInt64? { withStore { $0.missingCommit } }

  /// Whether the protector remembered a commit that this vault cannot have had. It was ignored, and the next commit replaces it.
  package var ignoresWitness: Bool { withStore { $0.ignoresWitness } }
}
