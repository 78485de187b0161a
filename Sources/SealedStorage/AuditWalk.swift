import VaultCrypto
package import VaultFormat
package import SecretMemory
package import VaultStorage

/// A walk along the audit log, an entry at a time. It always checks order and anchors, and the MACs if the audit roots are open.
package struct AuditWalk {
  /// An entry with its opened record.
  package struct Entry {
    package let row: AuditRow
    /// Nil if the entry does not open; a walk without roots skips such an entry.
    package let record: [UInt8]?

    package init(row: AuditRow, record: [UInt8]?) { (self.row, self.record) = (row, record) }

    /// Whether it may be the entry of a restore.
    package var mayBeRestore: Bool {
      guard let record else { return true }
      return (try? Record(decoding: record).u16(FieldNumber.Entry.operation))
        == AuditOperation.restored.rawValue
    }
  }

  package let segments: [SegmentRow]
  /// The audit roots by the first segment of their chain; empty while locked.
  package let roots: [UInt32: SharedSecret]
  /// The first segments of all chains, open or not.
  package let chainStarts: Set<UInt32>
  package let isBackup: Bool
  /// The sequence that must come next.
  package var next: UInt64
  /// The MAC of the last entry seen, or the anchor of an empty segment.
  package var mac: [UInt8] = []
  /// K_a after the last entry, where the roots are open.
  package private(set) var key: SharedSecret?

  /// The position of the segment that the walk is in; -1 before the first.
  private var index = -1
  /// How many of its entries were seen.
  private var count = 0
  private var isBegun = false

  package init(
    segments: [SegmentRow], roots: [UInt32: SharedSecret], chainStarts: Set<UInt32>, isBackup: Bool,
    next: UInt64
  ) {
    (self.segments, self.roots, self.chainStarts) = (segments, roots, chainStarts)
    (self.isBackup, self.next) = (isBackup, next)
  }

  /// Looks at the next entry.
  ///
  /// - Returns: What is wrong, in a few words, or `nil`. After a problem, the walk is over.
  package mutating func next(_ entry: Entry) -> String? {
    if !isBegun, let problem = begin(entry) { return problem }
    while entry.row.sequence >= end {
      if let problem = endSegment() ?? beginSegment() { return problem }
    }
    let expected = segments[index].first + UInt64(count)
    guard entry.row.sequence == expected else { return "entry \(expected) is missing" }
    count += 1
    defer { mac = entry.row.mac }
    return checkMAC(of: entry)
  }

  /// Looks at what is left when there is no entry any more.
  ///
  /// - Returns: As ``next(_:)``.
  package mutating func finish() -> String? {
    if !isBegun, let problem = begin(nil) { return problem }
    while index + 1 < segments.count {
      if let problem = endSegment() ?? beginSegment() { return problem }
    }
    return endSegment()
  }

  /// Where the present segment ends.
  private var end: UInt64 { index + 1 < segments.count ? segments[index + 1].first : .max }

  private mutating func begin(_ first: Entry?) -> String? {
    isBegun = true
    return hasBeginning(first) ? beginSegment() : "segments are missing"
  }

  private mutating func beginSegment() -> String? {
    index += 1
    count = 0
    let segment = segments[index]
    guard segment.first == next, index == 0 || segment.number == segments[index - 1].number + 1 else {
      return "segment \(segment.number) does not follow the one before"
    }
    guard segment.start.isEmpty, segment.number > 1 || segment.previous.allSatisfy({ $0 == 0 }) else {
      return "segment \(segment.number) was altered"
    }
    guard index == 0 || segment.previous == mac else {
      return "segment \(segment.number) is chained to another log"
    }
    mac = segment.anchor
    guard !roots.isEmpty else { return nil }
    guard let chainKey = chainKey(segment.number) else {
      return "segment \(segment.number) has no audit root"
    }
    key = SharedSecret(AuditChain.firstKey(of: chainKey.bytes))
    return nil
  }

  private mutating func endSegment() -> String? {
    let segment = segments[index]
    // Only a new root ends a segment early. The head row holds the C of the next segment. An attacker who has this C,
    // but not the root, could cut off the newest entries and continue in a new segment.
    let isWhole =
      count == AuditChain.entriesPerSegment || index + 1 == segments.count
      || chainStarts.contains(UInt32(clamping: segment.number + 1))
    guard index == 0 && beginsEmpty || count > 0 && isWhole else {
      return "entries of segment \(segment.number) are missing"
    }
    next = segment.first + UInt64(count)
    return nil
  }

  private mutating func checkMAC(of entry: Entry) -> String? {
    guard let before = key else { return nil }
    guard let record = entry.record else { return "entry \(entry.row.sequence) does not open" }
    let expected = AuditChain.mac(
      before.bytes, previous: mac, sequence: entry.row.sequence, record: record)
    guard isEqualInConstantTime(expected, entry.row.mac) else {
      return "entry \(entry.row.sequence) was altered"
    }
    key = SharedSecret(AuditChain.next(before.bytes))
    return nil
  }

  /// Whether the oldest segment has no entry, as in a backup and in a vault restored from the backup.
  private var beginsEmpty: Bool {
    segments.count > 1 ? segments[1].first == segments[0].first : isBackup
  }

  /// Whether the log begins where it may: with the oldest segment that is kept, or, after a restore, with the empty
  /// segment of the backup and the entry of the restore. The next segment is chained to the empty one, so no segment
  /// with old entries can directly follow the empty one.
  private func hasBeginning(_ entry: Entry?) -> Bool {
    guard let first = segments.first, let last = segments.last else { return false }
    guard chainStarts.contains(where: { UInt64($0) <= first.number }) else { return false }
    if isBackup { return segments.count == 1 && first.number > 1 }
    let kept = AuditChain.segmentsKept
    let oldest = last.number > kept ? last.number - kept + 1 : 1
    guard beginsEmpty else { return first.number == oldest }
    return first.number > 1 && first.number >= oldest && entry?.mayBeRestore == true
  }

  /// Whether the head row's keys are those at the end of the walk: an attacker cannot get the keys of an earlier entry.
  package func endsAs(_ head: borrowing Head) -> Bool {
    guard next == head.nextAudit, mac == head.auditMAC else { return false }
    guard let key, let chain = nextChainKey else { return roots.isEmpty }
    return key.bytes.isEqualInConstantTime(to: head.auditKey)
      && chain.bytes.isEqualInConstantTime(to: head.nextChainKey)
  }

  /// C of the segment after the last one, if the roots are open.
  package var nextChainKey: SharedSecret? {
    segments.last.flatMap { last in chainKey(last.number + 1) }
  }

  /// C of a segment, from the newest root that is not later than the segment.
  private func chainKey(_ number: UInt64) -> SharedSecret? {
    guard let subject = roots.keys.filter({ UInt64($0) <= number }).max(), let root = roots[subject] else {
      return nil
    }
    var key = root
    for _ in UInt64(subject)..<number { key = SharedSecret(AuditChain.nextChainKey(after: key.bytes)) }
    return key
  }
}
