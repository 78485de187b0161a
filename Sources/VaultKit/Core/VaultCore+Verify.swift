import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// What a verification found, and what it did not look at.
public struct VerifyReport: Sendable {
  /// How many items were opened.
  public internal(set) var items = 0
  /// How many secrets were opened.
  public internal(set) var secrets = 0
  /// How many secrets were not opened because they are locked: they need the passcode, or the device key that a recovery
  /// code does not replace.
  public internal(set) var lockedSecrets = 0
  /// How many secrets were not opened because an access rule guards them. Their rules were compared with their keys, where
  /// the vault is unlocked.
  public internal(set) var guardedSecrets = 0
  /// How many audit entries were opened.
  public internal(set) var auditEntries: UInt64 = 0
  /// Whether the audit chain was checked with its keys; without the passcode it cannot be.
  public internal(set) var isAuditChainChecked = false
  /// How many audit entries do not open, because they are damaged or a newer version made them. The chain goes through them,
  /// so it was not checked.
  public internal(set) var unreadableEntries = 0
  /// What is damaged, a line each; empty when nothing is.
  public internal(set) var problems: [String] = []
  /// What a newer version of this program made, a line each. This version does not open it, so it cannot say whether it is
  /// damaged.
  public internal(set) var newer: [String] = []

  /// Whether everything was looked at: every secret, the chain of the audit, and nothing that a newer version made.
  public var isComplete: Bool {
    lockedSecrets == 0 && guardedSecrets == 0 && isAuditChainChecked && newer.isEmpty
  }
}

/// How far a verification is.
public struct VerifyProgress: Sendable {
  /// Rows done.
  public let done: Int
  /// Rows in all.
  public let total: Int
}

extension VaultCore {
  /// Checks everything that the open keys can check: the file's pages, every seal, the blind index both ways, the
  /// sum over all rows, the audit chain. Changes nothing.
  package func verify(progress: (VerifyProgress) -> Void = { _ in }) throws(VaultError) -> VerifyReport {
    try reading { transaction throws(VaultError) in
      var verification = Verification(total: 0)
      try verification.run(&transaction.session, progress)
      return verification.report
    }
  }

  /// The whole audit log, and whether something of it is missing.
  package func auditLog() throws(VaultError) -> AuditLog {
    try reading { transaction throws(VaultError) in
      let head = try transaction.session.head()
      return try transaction.session.log(head)
    }
  }

  /// The audit entries from a sequence on, oldest first, opened with the device key.
  ///
  /// - Parameter damaged: Called with the number of each entry that does not open, and the reason; the entry is skipped.
  ///   Without it, such an entry is an error.
  package func auditEntries(
    from sequence: UInt64 = 0, limit: Int? = nil, damaged: ((UInt64, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [AuditEntry] {
    try reading { transaction throws(VaultError) in
      var entries: [AuditEntry] = []
      let rows = try stored { () throws(StorageError) in
        try transaction.session.store.auditEntries(from: sequence, limit: limit)
      }
      for row in rows {
        do throws(VaultError) { entries.append(try transaction.session.open(row).entry) } catch {
          guard let damaged, error.isUnreadable else { throw error }
          damaged(row.sequence, error)
        }
      }
      return entries
    }
  }
}

private struct Verification {
  var report = VerifyReport()
  var total: Int
  var done = 0

  init(total: Int) { self.total = total }

  mutating func run(_ session: inout Session, _ progress: (VerifyProgress) -> Void) throws(VaultError) {
    let head = try session.head()
    total = Int(clamping: head.itemCount * 2 + head.summedRows)
    let pages = try stored { () throws(StorageError) in
      try session.store.integrityCheck()
    }
    report.problems += pages.map { "database: \($0)" }
    let total = total
    let rows = try session.sumProblem(
      head, progress: { progress(VerifyProgress(done: $0, total: total)) })
    if let problem = rows.problem { report.problems.append(problem) }
    done = Int(clamping: head.summedRows)
    do throws(VaultError) { _ = try session.vaultState() } catch {
      try note(error, in: "state")
    }
    try checkItems(&session, rows.blinds, progress)
    do throws(VaultError) { try checkLog(&session, head) } catch { try note(error, in: "audit") }
  }

  private mutating func checkLog(_ session: inout Session, _ head: borrowing Head) throws(VaultError) {
    let log = try session.checkLog(head)
    report.auditEntries = log.entryCount
    report.isAuditChainChecked = log.isChainChecked
    report.unreadableEntries = log.unreadable.count
    for entry in log.unreadable { list(entry.error, in: "audit entry \(entry.sequence)") }
    if let problem = log.problem { report.problems.append("audit: \(problem)") }
  }

  /// One part that does not open must not keep the others from being looked at.
  private mutating func note(_ error: VaultError, in part: String) throws(VaultError) {
    guard error.isUnreadable else { throw error }
    list(error, in: part)
  }

  private mutating func list(_ error: VaultError, in part: String) {
    guard error.isNewerVersion else { return report.problems.append("\(part): \(error.message)") }
    report.newer.append("\(part): made by a newer version of this program (\(error.message))")
  }

  // MARK: Items

  /// - Parameter blindRows: How many index rows there are, whomever they belong to.
  private mutating func checkItems(
    _ session: inout Session, _ blindRows: Int, _ progress: (VerifyProgress) -> Void
  ) throws(VaultError) {
    var last: Int64 = 0
    var index = IndexRows()
    while true {
      var batch: [ItemRow] = []
      try session.store.forEachItem(after: last, limit: 256) { row throws(VaultError) in
        batch.append(row)
        return true
      }
      guard let end = batch.last else { break }
      last = end.row
      for row in batch {
        checkItem(&session, row, &index)
        report.items += 1
      }
      session.store.releasePages()
      done += batch.count * 2
      progress(VerifyProgress(done: min(done, total), total: total))
    }
    let unopened = try rowsInIndex(of: index.unopened, &session)
    if blindRows != index.found + unopened {
      report.problems.append("the index has rows that belong to no item")
    }
  }

  /// Which index rows belong to items.
  private struct IndexRows {
    /// How many of those that belong to items that open.
    var found = 0
    /// The row numbers of the other items: which index rows they should have is unknown.
    var unopened: Set<Int64> = []
  }

  private func rowsInIndex(of items: Set<Int64>, _ session: inout Session) throws(VaultError) -> Int {
    guard !items.isEmpty else { return 0 }
    var count = 0
    try session.store.forEachBlind { _, row throws(VaultError) in
      if items.contains(row) { count += 1 }
      return true
    }
    return count
  }

  /// Opens all that can be opened of one item. Each of its parts is looked at, whatever the others are.
  private mutating func checkItem(_ session: inout Session, _ row: ItemRow, _ index: inout IndexRows) {
    let name = "item \(ItemID(row.id))"
    let item: Item
    do throws(VaultError) { item = try session.open(row) } catch {
      index.unopened.insert(row.row)
      return list(error, in: name)
    }
    do throws(VaultError) { try checkIndex(&session, row, item, &index) } catch { list(error, in: name) }
    do throws(VaultError) { _ = try session.state(of: row) } catch { list(error, in: "\(name), its state") }
    do throws(VaultError) { try checkMaterial(&session, row, item) } catch {
      list(error, in: "\(name), its secret")
    }
  }

  private func checkIndex(
    _ session: inout Session, _ row: ItemRow, _ item: Item, _ rows: inout IndexRows
  ) throws(VaultError) {
    let index = try session.keys(of: row.generation).blindIndex
    let values = index.values(of: item.attributes)
    var found = 0
    for value in values {
      let isThere = try stored { () throws(StorageError) in
        try session.store.hasBlind(value: value, row: row.row)
      }
      if isThere { found += 1 }
    }
    rows.found += found
    guard found == values.count else { throw VaultError(.damaged, "one of its index rows is missing") }
    guard index.primaryKey(of: item.kind, item.attributes) == row.primaryKey,
      index.name(of: item.attributes) == row.name
    else { throw VaultError(.damaged, "its keys in the index are not those of its attributes") }
  }

  private mutating func checkMaterial(
    _ session: inout Session, _ row: ItemRow, _ item: Item
  ) throws(VaultError) {
    let material = try stored { () throws(StorageError) in try session.store.material(row: row.row) }
    guard let material, item.hasSecret else {
      guard (material != nil) == item.hasSecret else {
        throw VaultError(.damaged, item.hasSecret ? "it is missing" : "its row does not list one")
      }
      return
    }
    let secret = try SealedSecret(session.vault, row, item.policy, material)
    try secret.checkSeals()
    guard item.access.word == 0 else {
      report.guardedSecrets += 1
      do throws(VaultError) { try checkAlternatives(&session, row, item, secret) } catch {
        // An access rule that this version does not know.
        guard error.code == .unsupported else { throw error }
      }
      return
    }
    do throws(VaultError) {
      let decision = try Gate.decide(.update, on: item, row, in: session)
      _ = try secret.open(with: decision.opening.spend(on: item.id))
      report.secrets += 1
    } catch {
      switch error.code {
      case .locked, .policy: report.lockedSecrets += 1
      // Behind a PIN or a session.
      case .unsupported: report.guardedSecrets += 1
      default: throw error
      }
    }
  }

  /// Behind constraints nothing is opened here, but the rule and what stands behind it must fit each other.
  private func checkAlternatives(
    _ session: inout Session, _ row: ItemRow, _ item: Item, _ secret: SealedSecret
  ) throws(VaultError) {
    let ways = try item.policy.ways()
    guard let key = session.keys.classKey(item.access.classNumber, generation: row.generation) else { return }
    let alternatives = try secret.alternatives(under: key)
    guard alternatives.allSatisfy({ ways.contains($0.factors) }) else {
      throw VaultError(.damaged, "its keys are not those of its access rule")
    }
  }
}
