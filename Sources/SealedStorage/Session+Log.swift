import VaultKeys
import SecretMemory
package import VaultFormat
import VaultCrypto
package import VaultStorage

extension Session {
  package func open(_ row: AuditRow) throws(VaultError) -> (entry: AuditEntry, record: [UInt8]) {
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
  package mutating func checkLog(_ head: borrowing Head) throws(VaultError) -> LogCheck {
    var check = LogCheck()
    var entries: [AuditWalk.Entry] = []
    for row in try stored({ () throws(StorageError) in try store.auditEntries() }) {
      do throws(VaultError) { entries.append(AuditWalk.Entry(row: row, record: try open(row).record)) } catch
      {
        check.unreadable.append((row.sequence, error))
      }
    }
    check.entryCount = UInt64(entries.count)
    guard check.unreadable.isEmpty else { return check }
    check.isChainChecked = !keys.auditRoots.isEmpty
    check.problem = try logProblem(entries, roots: keys.auditRoots, head)
    return check
  }

  /// Opens what opens of the log, and compares the whole of it with its segments and the head row, which needs no passcode.
  package mutating func log(_ head: borrowing Head) throws(VaultError) -> AuditLog {
    var log = AuditLog()
    var entries: [AuditWalk.Entry] = []
    for row in try stored({ () throws(StorageError) in try store.auditEntries() }) {
      var record: [UInt8]?
      do throws(VaultError) {
        let opened = try open(row)
        log.entries.append(opened.entry)
        record = opened.record
      } catch {
        guard error.isUnreadable else { throw error }
        log.unreadable.append((row.sequence, error))
      }
      entries.append(AuditWalk.Entry(row: row, record: record))
    }
    log.gap = try logProblem(entries, roots: [:], head)
    return log
  }

  /// - Parameter roots: Empty where the MACs are not compared.
  private mutating func logProblem(
    _ entries: [AuditWalk.Entry], roots: [UInt32: SharedSecret], _ head: borrowing Head
  ) throws(VaultError) -> String? {
    let segments = try stored { () throws(StorageError) in try store.segments() }
    guard let first = segments.first, let last = segments.last, last.number == head.segment,
      last.first == head.segmentFirst
    else { return "segments are missing" }
    let starts = keys.slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }
    var walk = AuditWalk(
      segments: segments, roots: roots, chainStarts: Set(starts.map(\.subject)),
      isBackup: keys.header.isBackup, next: first.first)
    return walk.check(entries) ?? (walk.endsAs(head) ? nil : "the newest entries are missing")
  }
}
