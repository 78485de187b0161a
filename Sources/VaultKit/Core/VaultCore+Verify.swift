import SecretMemory
import VaultCrypto
import VaultStorage

/// What a verification found.
public struct VerifyReport: Sendable {
  /// How many items were opened.
  public internal(set) var items = 0
  /// How many secrets were opened; locked ones are not.
  public internal(set) var secrets = 0
  /// How many audit entries were opened.
  public internal(set) var auditEntries: UInt64 = 0
  /// Whether the audit chain was checked with its keys; without the passcode it cannot be.
  public internal(set) var isAuditChainChecked = false
  /// What is wrong, a line each; empty when all is well.
  public internal(set) var problems: [String] = []
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

  /// The audit entries from a sequence on, oldest first, opened with the device key.
  package func auditEntries(from sequence: UInt64 = 0, limit: Int? = nil) throws(VaultError) -> [AuditEntry] {
    try reading { transaction throws(VaultError) in
      var entries: [AuditEntry] = []
      let rows = try stored { () throws(StorageError) in
        try transaction.session.store.auditEntries(from: sequence, limit: limit)
      }
      for row in rows { entries.append(try transaction.session.open(row).entry) }
      return entries
    }
  }
}

extension Session {
  func open(_ row: AuditRow) throws(VaultError) -> (entry: AuditEntry, record: [UInt8]) {
    guard row.mac.count == 32 else { throw VaultError(.damaged, "an audit entry's MAC has a wrong length") }
    let bytes = try crypto { () throws(CryptoError) in
      let generation = try RecordSeal.generation(of: row.body)
      guard let keys = keys.keys(of: generation) else { throw .tagMismatch }
      return try keys.audit.open(row.body, aad: AssociatedData.audit(vault, sequence: row.sequence))
    }
    guard let record = try? Record(decoding: bytes) else {
      throw VaultError(.damaged, "an audit entry is not readable")
    }
    return (try AuditEntry(sequence: row.sequence, record: record), bytes)
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
    do throws(VaultError) { try checkAudit(&session, head) } catch {
      try note(error, in: "audit")
    }
  }

  /// One part that does not open must not keep the others from being looked at.
  private mutating func note(_ error: VaultError, in part: String) throws(VaultError) {
    guard error.isUnreadable else { throw error }
    report.problems.append("\(part): \(error.message)")
  }

  // MARK: Items

  /// - Parameter blindRows: How many index rows there are, whomever they belong to.
  private mutating func checkItems(
    _ session: inout Session, _ blindRows: Int, _ progress: (VerifyProgress) -> Void
  ) throws(VaultError) {
    var last: Int64 = 0
    var blinds = 0
    while true {
      var batch: [ItemRow] = []
      try session.store.forEachItem(after: last, limit: 256) { row throws(VaultError) in
        batch.append(row)
        return true
      }
      guard let end = batch.last else { break }
      last = end.row
      for row in batch {
        do throws(VaultError) { blinds += try checkItem(&session, row) } catch {
          report.problems.append("item \(ItemID(row.id)): \(error.message)")
        }
        report.items += 1
      }
      session.store.releasePages()
      done += batch.count * 2
      progress(VerifyProgress(done: min(done, total), total: total))
    }
    if blindRows != blinds { report.problems.append("the index has rows that belong to no item") }
  }

  /// Opens all that can be opened of one item; returns how many index rows it has.
  private mutating func checkItem(_ session: inout Session, _ row: ItemRow) throws(VaultError) -> Int {
    let item = try session.open(row)
    let index = BlindIndex(key: try session.keys(of: row.generation))
    guard index.primaryKey(of: item.kind, item.attributes) == row.primaryKey,
      index.name(of: item.attributes) == row.name
    else { throw VaultError(.damaged, "its keys in the index are not those of its attributes") }
    let values = index.values(of: item.attributes)
    for value in values {
      let isThere = try stored { () throws(StorageError) in
        try session.store.hasBlind(value: value, row: row.row)
      }
      guard isThere else { throw VaultError(.damaged, "one of its index rows is missing") }
    }
    _ = try session.state(of: row)
    let material = try stored { () throws(StorageError) in try session.store.material(row: row.row) }
    guard (material != nil) == item.hasSecret else { throw VaultError(.damaged, "its secret is missing") }
    if item.hasSecret {
      if item.access.word == 0 {
        try checkSecret(&session, row, item)
      } else {
        try checkAlternatives(&session, row, item, material)
      }
    }
    return values.count
  }

  /// Behind constraints nothing is opened here, but the rule and what stands behind it must fit each other.
  private mutating func checkAlternatives(
    _ session: inout Session, _ row: ItemRow, _ item: Item, _ material: MaterialRow?
  ) throws(VaultError) {
    guard Constraints.supported.isSuperset(of: item.access.constraints) else { return }
    let ways = try item.policy.ways()
    guard let key = session.keys.classKey(item.access.classNumber, generation: row.generation) else { return }
    do throws(VaultError) {
      let secret = try SealedSecret(session.vault, row, item.policy, material)
      let alternatives = try secret.alternatives(under: key)
      guard alternatives.allSatisfy({ ways.contains($0.factors) }) else {
        throw VaultError(.damaged, "its keys are not those of its access rule")
      }
    } catch  where error.code == .unsupported {}
  }

  private mutating func checkSecret(_ session: inout Session, _ row: ItemRow, _ item: Item) throws(VaultError)
  {
    do throws(VaultError) {
      let decision = try Gate.decide(.update, on: item, row, in: session)
      _ = try session.sealedSecret(of: row, item).open(with: decision.opening.spend(on: item.id))
      report.secrets += 1
    } catch  where [.locked, .policy, .unsupported].contains(error.code) {}
  }

  // MARK: Audit

  private mutating func checkAudit(_ session: inout Session, _ head: borrowing Head) throws(VaultError) {
    let segments = try stored { () throws(StorageError) in try session.store.segments() }
    let roots = session.keys.auditRoots
    report.isAuditChainChecked = !roots.isEmpty
    let kept = head.segment > AuditChain.segmentsKept ? head.segment - AuditChain.segmentsKept + 1 : 1
    let oldest = max(kept, head.firstSegment)
    guard segments.last?.number == head.segment, let first = segments.first, first.number == oldest else {
      report.problems.append("audit: segments are missing")
      return
    }
    let starts = session.keys.slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }
    var walk = AuditWalk(
      segments: segments, roots: roots, chainStarts: Set(starts.map(\.subject)), next: first.first)
    var rows: [AuditRow] = []
    try session.store.forEachAudit { row throws(VaultError) in
      rows.append(row)
      return true
    }
    var entries: [AuditWalk.Entry] = []
    for row in rows {
      do throws(VaultError) {
        entries.append(AuditWalk.Entry(row: row, record: try session.open(row).record))
      } catch {
        report.problems.append("audit entry \(row.sequence): \(error.message)")
        return
      }
    }
    report.auditEntries = UInt64(entries.count)
    if let problem = walk.check(entries) {
      report.problems.append("audit: \(problem)")
    } else if walk.next != head.nextAudit || walk.mac != head.auditMAC || !endsAsHeadSays(walk, head) {
      report.problems.append("audit: the newest entries are missing")
    }
  }

  /// Whether the keys for what comes next are those that the walk ends with: they cannot be had for an earlier entry.
  private func endsAsHeadSays(_ walk: AuditWalk, _ head: borrowing Head) -> Bool {
    guard let key = walk.key, let chain = walk.nextChainKey else { return walk.roots.isEmpty }
    return key.key.isEqualInConstantTime(to: head.auditKey)
      && chain.key.isEqualInConstantTime(to: head.nextChainKey)
  }
}
