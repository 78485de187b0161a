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
    var (walk, problem) = try logWalk(roots: keys.auditRoots, head: head)
    var first: UInt64? = 0
    while let from = first {
      let rows = try rows.auditEntries(from: from, limit: Self.entriesTogether)
      for row in rows {
        do throws(VaultError) {
          let record = try open(row).record
          check.entryCount += 1
          if problem == nil { problem = walk?.next(AuditWalk.Entry(row: row, record: record)) }
        } catch { check.unreadable.append((row.sequence, error)) }
      }
      first = rows.count == Self.entriesTogether ? rows.last!.sequence + 1 : nil
      self.rows.releasePages()
      try refuseLockedMeanwhile()
    }
    guard check.unreadable.isEmpty else { return check }
    check.isChainChecked = !keys.auditRoots.isEmpty
    check.problem = problem ?? Self.end(of: &walk, head: head)
    return check
  }

  /// Opens the entries of the log that open, and compares the whole log with its segments and the head row. Needs no
  /// passcode.
  package mutating func log(_ head: borrowing Head) throws(VaultError) -> AuditLog {
    var log = AuditLog()
    var (walk, problem) = try logWalk(roots: [:], head: head)
    var first: UInt64? = 0
    while let from = first {
      let rows = try rows.auditEntries(from: from, limit: Self.entriesTogether)
      for row in rows {
        var record: [UInt8]?
        do throws(VaultError) {
          let opened = try open(row)
          log.entries.append(opened.entry)
          record = opened.record
        } catch {
          guard error.isUnreadable else { throw error }
          log.unreadable.append((row.sequence, error))
        }
        if problem == nil { problem = walk?.next(AuditWalk.Entry(row: row, record: record)) }
      }
      first = rows.count == Self.entriesTogether ? rows.last!.sequence + 1 : nil
      self.rows.releasePages()
    }
    log.gap = problem ?? Self.end(of: &walk, head: head)
    return log
  }

  /// How many entries are in memory at once.
  private static let entriesTogether = 512

  /// - Parameter roots: Empty if the MACs are not compared.
  /// - Returns: A walk at the beginning of the log, or what is wrong already.
  private mutating func logWalk(
    roots: [UInt32: SharedSecret], head: borrowing Head
  ) throws(VaultError) -> (walk: AuditWalk?, problem: String?) {
    let segments = try rows.segments()
    guard let first = segments.first, let last = segments.last, last.number == head.segment,
      last.first == head.segmentFirst
    else { return (nil, "segments are missing") }
    let starts = keys.slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }
    let walk = AuditWalk(
      segments: segments, roots: roots, chainStarts: Set(starts.map(\.subject)),
      isBackup: keys.header.isBackup, next: first.first)
    return (walk, nil)
  }

  private static func end(of walk: inout AuditWalk?, head: borrowing Head) -> String? {
    guard let problem = walk?.finish() else {
      return walk?.endsAs(head) == true ? nil : "the newest entries are missing"
    }
    return problem
  }
}
