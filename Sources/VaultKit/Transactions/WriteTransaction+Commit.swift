import VaultFormat
import VaultKeys
import VaultLogging
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Makes the changes durable.
  ///
  /// - Throws: Why nothing was changed; ``VaultError/Code/unconfirmed`` if a change may be stored all the same.
  package consuming func commit() throws(VaultError) {
    // A change that the seal of the head adds is cleaned away with a later commit.
    let needsCleaning = changes.needsCleaning
    try sealHead()
    guard changes.isDirty else { return }
    let core = reading.lease.core
    try core.environment.committing(changes.done.bits != 0)
    do throws(VaultError) { try store.rows.commit() } catch {
      VaultLog.error(.vaultStorage, "a commit failed: \(error.code)")
      throw error
    }
    core.noteDone(changes.done)
    let (commit, vault, key) = (head.commit, store.vault, store.keys.header.deviceKey)
    store.noteOwn(commit)
    core.session.endTimer.set(head.nextTokenEnd, of: core.session, clock: core.environment.clock)
    if needsCleaning { store.clean() }
    reading.lease.giveBack()
    core.session.note(commit, under: key, of: vault)
    VaultLog.debug(.vaultStorage, "commit \(commit.sequence) of vault \(vault)")
    for note in changes.notes { note.writeLine() }
  }

  /// Writes the changes, and rolls them back. This detects a full disk or a vault that cannot be written before anything outside the
  /// vault depends on the change.
  consuming func rehearse() throws(VaultError) {
    try sealHead()
    try store.rows.writeOut()
  }

  /// The last step before COMMIT.
  private mutating func sealHead() throws(VaultError) {
    guard !changes.isHalfDone else {
      throw VaultError(
        .io, "an operation failed half way, so nothing of the transaction was written", hint: "try again")
    }
    guard changes.isDirty else { return }
    try store.refuseLockedMeanwhile()
    try refuseOrphans()
    try noteTestWorld()
    if changes.needsCleaning { head.cleaningPending = true }
    try reading.store.seal(&head, seals: changes.seals)
  }

  /// Marks a vault without the marks of this world, because the commit may contain a key that is cheap or predictable.
  private mutating func noteTestWorld() throws(VaultError) {
    let marks = store.environment.testMarks
    guard !marks.isEmpty, !store.keys.header.testMarks.isSuperset(of: marks) else { return }
    // A change of the header in this transaction has the marks already.
    if head.config == store.keys.header.config { try set(store.keyChange) }
  }

  /// The first step. A file with another identity, or without a commit that was seen before, is a copy or an old
  /// state. Its HOTP counters may be behind those of the servers; the attempts of PINs and the states of programs' kinds
  /// may be behind as well. Its tokens may have been used.
  ///
  /// - Returns: Whether it is a copy or an old state.
  mutating func adoptFile() throws(VaultError) -> Bool {
    let move = store.environment.move
    let identity = move == .onward ? 0 : store.rows.fileIdentity
    let missing = try reading.store.missing(from: head)
    guard head.fileIdentity != identity || missing != nil else { return false }
    let isBehind = head.fileIdentity != 0 && (move == .none || missing != nil)
    if isBehind {
      let marked = try markStatesBehind()
      changes.hasMarked = true
      try lockBiometry()
      let lack = missing.map { "commit \($0) is not in the file; " } ?? ""
      try log(.copyDetected, detail: lack + "\(marked) counters need a resynchronization")
    }
    if isBehind, head.fileIdentity != identity { head.isCopy = true }
    head.fileIdentity = identity
    // From this commit on, this file is the newest again.
    head.sequence = reading.store.greatestSequence(head)
    changes.isDirty = true
    return isBehind
  }

  /// Whether this transaction found out that the file is a copy or an older state. A mark that it set is settled by nothing that
  /// a person has shown before.
  package var hasMarked: Bool { changes.hasMarked }

  /// In a copy with a passcode, no phrase and no finger is judged before the passcode was right once: each further copy would have
  /// five attempts.
  private mutating func lockBiometry() throws(VaultError) {
    guard store.keys.header.hasPasscode else { return }
    // Without a state that opens, nothing is judged either.
    guard let found = try? store.vaultState() else { return }
    var state = found.state
    BiometryLockout.lock(&state.biometryFailures)
    try setVaultState(state, replacing: found.row)
  }

  /// Marks the states that another side may be ahead of, and returns their number.
  private mutating func markStatesBehind() throws(VaultError) -> Int {
    var items: [ItemID] = []
    // Skip a credential that does not open, because it gives no code.
    var walk = ItemWalk()
    while let item = try walk.nextReadable(in: &store) { if item.canBeBehind { items.append(item.id) } }
    var marked = 0
    for id in items {
      do throws(VaultError) {
        try changeState(of: id) { $0.needsResync = true }
        marked += 1
      } catch {
        // An item of a program's own kind may have no state.
        guard error.isUnreadable || error.code == .itemNotFound, !changes.isHalfDone else { throw error }
      }
    }
    return marked
  }

  /// Writes a changed header with its slots, and increases `config` by 1 in both places.
  @discardableResult
  mutating func set(_ change: KeyChange) throws(VaultError) -> HeaderRow {
    var change = change
    let before = store.keys.header
    if try store.rows.hasFormer() { change.header.keepFormer() }
    // Nothing of the generation before opens under the new root key, so a number that is near its end may begin again.
    let beginsAgain = change.header.generation != before.generation && before.config >= Head.nearEnd
    change.header.config = beginsAgain ? 1 : before.config + 1
    head.config = change.header.config
    let row = change.row
    try store.rows.replaceSlots(change.slots)
    try store.rows.setHeader(row)
    store.ownHeader = row
    changes.seals += change.seals
    changes.isDirty = true
    changes.needsCleaning = true
    return row
  }
}

extension Item {
  /// Whether another side may have seen a later state of the item than a copy has: a server, what a program says, or the
  /// person who tried a PIN in the original.
  var canBeBehind: Bool { kind.rules.state.canBeBehind || isCountingProver }
}
