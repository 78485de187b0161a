import VaultKeys
import SecretMemory
package import VaultFormat
import VaultCrypto
package import VaultStorage

extension SealedStore {
  package func open(_ row: AuditRow) throws(VaultError) -> (entry: AuditEntry, record: [UInt8]) {
    guard row.mac.count == 32 else { throw VaultError(.damaged, "an audit entry's MAC has a wrong length") }
    guard let keys = keys.keys(of: try GenerationKeys.generation(of: row.body)) else {
      throw VaultError(crypto: .tagMismatch)
    }
    let bytes = try keys.openEntry(row, in: vault)
    guard let record = try? Record(decoding: bytes) else {
      throw VaultError(.damaged, "an audit entry is not readable")
    }
    return (try AuditEntry(sequence: row.sequence, record: record), bytes)
  }

  /// Opens every entry of the log, and checks that it begins where it may, has no gap, and ends as the head row says.
  package mutating func checkLog(_ head: borrowing Head) throws(VaultError) -> LogCheck {
    var check = LogCheck()
    var entries: [AuditWalk.Entry] = []
    for row in try rows.auditEntries() {
      do throws(VaultError) { entries.append(AuditWalk.Entry(row: row, record: try open(row).record)) } catch
      {
        check.unreadable.append((row.sequence, error))
      }
    }
    check.entryCount = UInt64(entries.count)
    guard check.unreadable.isEmpty else { return check }
    check.isChainChecked = !keys.auditRoots.isEmpty
    check.problem = try logProblem(in: entries, roots: keys.auditRoots, head: head)
    return check
  }

  /// Opens the entries of the log that open, and compares the whole log with its segments and the head row. Needs no
  /// passcode.
  package mutating func log(_ head: borrowing Head) throws(VaultError) -> AuditLog {
    var log = AuditLog()
    var entries: [AuditWalk.Entry] = []
    for row in try rows.auditEntries() {
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
    log.gap = try logProblem(in: entries, roots: [:], head: head)
    return log
  }

  /// - Parameter roots: Empty if the MACs are not compared.
  private mutating func logProblem(
    in entries: [AuditWalk.Entry], roots: [UInt32: SharedSecret], head: borrowing Head
  ) throws(VaultError) -> String? {
    let segments = try rows.segments()
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
