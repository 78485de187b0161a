import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Checks everything that the open keys can check: the file's pages, every seal, the blind index both ways, the
  /// sum over all rows, the audit chain. Changes nothing.
  package func verify(progress: (VerifyProgress) -> Void = { _ in }) throws(VaultError) -> VerifyReport {
    var transaction = try beginReading()
    var verification = Verification(total: 0)
    try verification.run(on: &transaction.store, progress: progress)
    return verification.report
  }

  /// Checks a backup as ``verify(progress:)`` checks a vault. Secrets that the passcode guards stay closed.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase, and if the backup does not open.
  package static func verify(
    _ backup: BackupFile, passphrase: consuming Passcode, environment: VaultEnvironment = .system,
    progress: (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> VerifyReport {
    var store = try openedBackup(backup, unchecked: passphrase, environment: environment)
    store.begin()
    try store.rows.beginRead()
    var verification = Verification(total: 0)
    try verification.run(on: &store, progress: progress)
    store.rows.rollback()
    return verification.report
  }

  /// The whole audit log, and whether a part is missing.
  package func auditLog() throws(VaultError) -> AuditLog {
    var transaction = try beginReading()
    let head = try transaction.store.head()
    return try transaction.store.log(head)
  }

  /// What is wrong with the audit log as a whole, such as a missing entry; `nil` where nothing is. Entries that do not open are not
  /// named.
  package func auditProblem() throws(VaultError) -> String? {
    var transaction = try beginReading()
    let head = try transaction.store.head()
    return try transaction.store.checkLog(head).problem
  }

  /// The audit entries from a sequence on, oldest first, opened with the device key.
  ///
  /// - Parameter damaged: Called with the number of each entry that does not open, and the reason; the entry is
  ///   skipped. Without it, such an entry is an error.
  package func auditEntries(
    from sequence: UInt64 = 0, limit: Int? = nil, damaged: ((UInt64, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [AuditEntry] {
    var transaction = try beginReading()
    var entries: [AuditEntry] = []
    let rows = try transaction.store.rows.auditEntries(from: sequence, limit: limit)
    for row in rows {
      do throws(VaultError) { entries.append(try transaction.store.open(row).entry) } catch {
        guard let damaged, error.isUnreadable else { throw error }
        damaged(row.sequence, error)
      }
    }
    return entries
  }
}

private struct Verification {
  var report = VerifyReport()
  var total: Int
  var done = 0
  private var guarded = GuardedItems()

  init(total: Int) { self.total = total }

  mutating func run(on store: inout SealedStore, progress: (VerifyProgress) -> Void) throws(VaultError) {
    let head = try store.head()
    report.missingCommit = store.missingCommit
    report.countsNearEnd = head.countsNearEnd()
    total = Int(clamping: head.itemCount * 2 + head.summedRows)
    let pages = try store.rows.integrityCheck()
    report.problems += pages.map { "database: \($0)" }
    let total = total
    let rows = try store.sumProblem(
      head, progress: { progress(VerifyProgress(done: $0, total: total)) })
    if let problem = rows.problem { report.problems.append(problem) }
    done = Int(clamping: head.summedRows)
    do throws(VaultError) { _ = try store.vaultState() } catch {
      try note(error, in: "state")
    }
    try checkItems(of: &store, blindRows: rows.blinds, progress: progress)
    for item in guarded.behindDamagedPIN {
      report.problems.append("item \(item): the PIN that guards it does not open or is missing")
    }
    do throws(VaultError) { try checkLog(of: &store, head: head) } catch { try note(error, in: "audit") }
    try store.refuseLockedMeanwhile()
  }

  private mutating func checkLog(of store: inout SealedStore, head: borrowing Head) throws(VaultError) {
    let log = try store.checkLog(head)
    report.auditEntries = log.entryCount
    report.isAuditChainChecked = log.isChainChecked
    report.unreadableEntries = log.unreadable.count
    for entry in log.unreadable { list(entry.error, in: "audit entry \(entry.sequence)") }
    if let problem = log.problem { report.problems.append("audit: \(problem)") }
  }

  /// Notes an error and continues, so that one part that does not open does not prevent checking the others.
  private mutating func note(_ error: VaultError, in part: String) throws(VaultError) {
    guard error.isUnreadable else { throw error }
    list(error, in: part)
  }

  private mutating func list(_ error: VaultError, in part: String) {
    guard error.isNewerVersion else { return report.problems.append("\(part): \(error.message)") }
    report.newer.append("\(part): made by a newer version of this program (\(error.message))")
  }

  // MARK: Items

  /// Lists what is wrong with an item. A PIN with such a part guards items that can no longer be used.
  private mutating func list(_ error: VaultError, in part: String, of row: ItemRow) {
    list(error, in: part)
    guarded.note(error, of: ItemID(row.id))
  }

  /// - Parameter blindRows: The number of all index rows, including those that belong to no item.
  private mutating func checkItems(
    of store: inout SealedStore, blindRows: Int, progress: (VerifyProgress) -> Void
  ) throws(VaultError) {
    var last: Int64 = 0
    var index = IndexRows()
    while true {
      let batch = try store.rows.items(after: last, limit: 256)
      guard let end = batch.last else { break }
      last = end.row
      for row in batch {
        checkItem(of: &store, row: row, index: &index)
        report.items += 1
      }
      store.rows.releasePages()
      try store.refuseLockedMeanwhile()
      done += batch.count * 2
      progress(VerifyProgress(done: min(done, total), total: total))
    }
    let unopened = try rowsInIndex(of: index.unopened, &store)
    if blindRows != index.found + unopened {
      report.problems.append("the index has rows that belong to no item")
    }
  }

  /// Which index rows belong to items.
  private struct IndexRows {
    /// The number of index rows of items that open.
    var found = 0
    /// The row numbers of the other items: which index rows they should have is unknown.
    var unopened: Set<Int64> = []
  }

  private func rowsInIndex(of items: Set<Int64>, _ store: inout SealedStore) throws(VaultError) -> Int {
    guard !items.isEmpty else { return 0 }
    var count = 0
    try store.rows.forEachBlind { _, row throws(VaultError) in
      if items.contains(row) { count += 1 }
      return true
    }
    return count
  }

  /// Opens all parts of one item that can be opened. Checks each part, even if another one is damaged.
  private mutating func checkItem(of store: inout SealedStore, row: ItemRow, index: inout IndexRows) {
    let name = "item \(ItemID(row.id))"
    let item: Item
    do throws(VaultError) { item = try store.open(row) } catch {
      index.unopened.insert(row.row)
      return list(error, in: name, of: row)
    }
    guarded.note(item)
    do throws(VaultError) { try checkIndex(of: &store, row: row, item: item, rows: &index) } catch {
      list(error, in: name)
    }
    do throws(VaultError) { _ = try store.state(of: row) } catch {
      list(error, in: "\(name), its state", of: row)
    }
    do throws(VaultError) { try checkMaterial(of: &store, row: row, item: item) } catch {
      list(error, in: "\(name), its secret", of: row)
    }
    checkFormer(of: &store, row: row, item: item)
  }

  private mutating func checkFormer(of store: inout SealedStore, row: ItemRow, item: Item) {
    let name = "item \(ItemID(row.id))"
    do throws(VaultError) {
      for former in try store.formerRows(of: row) {
        guard let error = try store.damage(of: former, of: row, item) else { continue }
        list(error, in: "\(name), its former secret \(former.version)")
      }
    } catch { list(error, in: "\(name), its former secrets") }
  }

  private func checkIndex(
    of store: inout SealedStore, row: ItemRow, item: Item, rows: inout IndexRows
  ) throws(VaultError) {
    let index = try store.keys(of: row.generation).blindIndex
    let values = index.values(of: item)
    var found = 0
    for value in values {
      let isThere = try store.rows.hasBlind(value: value, row: row.row)
      if isThere { found += 1 }
    }
    rows.found += found
    guard found == values.count else { throw VaultError(.damaged, "one of its index rows is missing") }
    var primaryKey = row.primaryKey
    // Else only its component, which is not linked, can tell.
    if item.isInTrash || item.kind.rules.primaryAttributes(isNamed: item.name != nil) != nil {
      primaryKey = try index.primaryKey(of: item)
    }
    guard primaryKey == row.primaryKey, index.name(of: item) == row.name
    else { throw VaultError(.damaged, "its keys in the index are not those of its attributes") }
  }

  private mutating func checkMaterial(
    of store: inout SealedStore, row: ItemRow, item: Item
  ) throws(VaultError) {
    let material = try store.rows.material(row: row.row)
    guard let material, item.hasSecret else {
      guard (material != nil) == item.hasSecret else {
        throw VaultError(.damaged, item.hasSecret ? "it is missing" : "its row does not list one")
      }
      return
    }
    let secret = try SealedSecret(store.vault, row, item.policy, material)
    try secret.checkSeals()
    guard !item.isOfLaterVersion else {
      report.guardedSecrets += 1
      guard let key = store.keys.classKey(item.access.classNumber, generation: row.generation) else { return }
      return try secret.checkBinding(under: key)
    }
    do throws(VaultError) {
      guard try !item.policy.isWrapped() else {
        report.guardedSecrets += 1
        return try checkAlternatives(of: &store, row: row, item: item, secret: secret)
      }
      let decision = try Gate.decide(.update, on: item, row: row, in: store)
      _ = try secret.open(with: decision.opening.spend(on: item.id))
      report.secrets += 1
    } catch {
      switch error.code {
      case .locked, .policy: report.lockedSecrets += 1
      // A derivation that this version does not know.
      case .unsupported: break
      default: throw error
      }
    }
  }

  /// Checks that an item's constraints and its wrapped keys match. Opens nothing, because the item needs a person.
  private func checkAlternatives(
    of store: inout SealedStore, row: ItemRow, item: Item, secret: SealedSecret
  ) throws(VaultError) {
    let ways = try item.policy.ways()
    guard let key = store.keys.classKey(item.access.classNumber, generation: row.generation) else { return }
    let alternatives = try secret.alternatives(under: key)
    guard alternatives.allSatisfy({ ways.contains($0.factors) }) else {
      throw VaultError(.damaged, "its keys are not those of its access rule")
    }
  }
}
