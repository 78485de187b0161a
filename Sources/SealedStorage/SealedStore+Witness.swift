package import VaultFormat
import VaultStorage

/// Whether this is the file that was seen here before, or one that lacks a part of it.
extension SealedStore {
  /// Whether this state of the file lacks a commit that this session or the protector has seen: it is older, or it went on from
  /// an older one.
  package mutating func isBehind(_ head: borrowing Head) throws(VaultError) -> Bool {
    try missing(from: head) != nil
  }

  /// The number of a commit that was seen and is not in this state of the file.
  package mutating func missing(from head: borrowing Head) throws(VaultError) -> UInt64? {
    if let missing = try missing(witness, from: head) { return missing }
    return try missing(seen, from: head)
  }

  private mutating func missing(_ commit: SeenCommit?, from head: borrowing Head) throws(VaultError)
    -> UInt64?
  {
    guard let commit, head.isBelievable(commit) else { return nil }
    if head.isOlder(than: commit) { return commit.sequence }
    guard let entry = commit.entry, try lacks(entry, head) else { return nil }
    return commit.sequence
  }

  /// The number that the next commit of this file begins from: those that were seen count, if they can be commits of it.
  package func greatestSequence(_ head: borrowing Head) -> UInt64 {
    var greatest = head.sequence
    if let witness, head.isOlder(than: witness) { greatest = witness.sequence }
    if head.isOlder(than: seen) { greatest = max(greatest, seen.sequence) }
    return greatest
  }

  /// Whether the log has another entry with this number, or none. An entry from before the beginning of the log is unknown, and
  /// not lacking.
  private mutating func lacks(_ entry: SeenCommit.Entry, _ head: borrowing Head) throws(VaultError) -> Bool {
    if let last = head.commit.entry, last.number == entry.number { return last != entry }
    guard entry.number < head.nextAudit else { return true }
    guard let row = try rows.auditEntries(from: entry.number, limit: 1).first else { return true }
    guard row.sequence == entry.number else {
      return try rows.auditEntries(limit: 1).first.map { $0.sequence < entry.number } ?? false
    }
    return row.mac != entry.mac
  }
}
