import VaultCrypto
import VaultStorage

/// What a check of the whole log found.
struct LogCheck {
  /// How many entries were opened.
  var entryCount: UInt64 = 0
  /// The entries that do not open. Then the chain is not checked.
  var unreadable: [(sequence: UInt64, error: VaultError)] = []
  /// What else is wrong, in a few words.
  var problem: String?
  /// Whether the MACs were compared, which needs the audit roots.
  var isChainChecked = false
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

  /// Opens every entry of the log, and checks that it begins where it may, has no gap, and ends as the head row says.
  mutating func checkLog(_ head: borrowing Head) throws(VaultError) -> LogCheck {
    var check = LogCheck()
    let segments = try stored { () throws(StorageError) in try store.segments() }
    var rows: [AuditRow] = []
    try store.forEachAudit { row throws(VaultError) in
      rows.append(row)
      return true
    }
    var entries: [AuditWalk.Entry] = []
    for row in rows {
      do throws(VaultError) { entries.append(AuditWalk.Entry(row: row, record: try open(row).record)) } catch
      {
        check.unreadable.append((row.sequence, error))
      }
    }
    check.entryCount = UInt64(entries.count)
    guard check.unreadable.isEmpty else { return check }
    check.isChainChecked = !keys.auditRoots.isEmpty
    guard let first = segments.first, let last = segments.last, last.number == head.segment,
      last.first == head.segmentFirst
    else {
      check.problem = "segments are missing"
      return check
    }
    let starts = keys.slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }
    var walk = AuditWalk(
      segments: segments, roots: keys.auditRoots, chainStarts: Set(starts.map(\.subject)),
      isBackup: keys.header.isBackup, next: first.first)
    check.problem = walk.check(entries)
    if check.problem == nil, !walk.endsAs(head) { check.problem = "the newest entries are missing" }
    return check
  }
}
