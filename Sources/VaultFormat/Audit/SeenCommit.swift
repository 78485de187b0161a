/// A commit of a vault, as a protector remembers it outside of the vault file.
///
/// No seal protects it. So it answers one question, whether the vault file is older than what this machine has seen, and its
/// numbers do not get into the vault. A number that is too far ahead of the file to be true is not believed.
public struct SeenCommit: Sendable, Equatable {
  /// The number of the commit.
  public let sequence: UInt64
  /// The last entry of the log in that commit; `nil` if it is not known.
  public let entry: Entry?

  /// An entry of the log. Its MAC depends on all entries before it, and no rotation changes it.
  public struct Entry: Sendable, Equatable {
    /// The number of the entry.
    public let number: UInt64
    /// The MAC of the entry, 32 bytes.
    public let mac: [UInt8]

    /// An entry as a protector has remembered it.
    ///
    /// - Precondition: `mac` has 32 bytes.
    public init(number: UInt64, mac: [UInt8]) {
      precondition(mac.count == 32, "SeenCommit.Entry: a MAC has 32 bytes")
      (self.number, self.mac) = (number, mac)
    }
  }

  /// A commit as a protector has remembered it.
  public init(sequence: UInt64, entry: Entry? = nil) {
    (self.sequence, self.entry) = (sequence, entry)
  }

  /// How far ahead of a vault file a remembered commit is believed. No machine commits so often between two looks at the file.
  package static let most: UInt64 = 1 << 32

  /// Whether a witness with this number is to be written over one with the number `other`: it never goes back, and a number
  /// that would not have been believed beside the one before this does not stay.
  package static func replaces(_ sequence: UInt64, _ other: UInt64) -> Bool {
    other < sequence || other - sequence >= most
  }

  /// Which of two commits that were remembered in two places is the newer one. A number that would not be believed beside the other
  /// does not count.
  package static func newer(_ one: SeenCommit?, _ other: SeenCommit) -> SeenCommit {
    guard let one else { return other }
    guard one.sequence != other.sequence else { return one.entry == nil ? other : one }
    let (older, newer) = one.sequence < other.sequence ? (one, other) : (other, one)
    return newer.sequence - older.sequence < most ? newer : older
  }
}

extension Head {
  /// This state of the vault, to be remembered.
  package var commit: SeenCommit { SeenCommit(sequence: sequence, entry: lastEntry) }

  /// `nil` while the current segment is empty: the MAC is then that of its anchor.
  private var lastEntry: SeenCommit.Entry? {
    nextAudit > segmentFirst ? SeenCommit.Entry(number: nextAudit - 1, mac: auditMAC) : nil
  }

  /// Whether this head row has fewer commits than `seen`. A number that is too far ahead is no answer.
  package borrowing func isOlder(than seen: SeenCommit) -> Bool {
    sequence < seen.sequence && isBelievable(seen)
  }

  /// Whether `seen` can be a commit of this vault.
  package borrowing func isBelievable(_ seen: SeenCommit) -> Bool {
    seen.sequence <= sequence || seen.sequence - sequence <= SeenCommit.most
  }

  /// Counts a commit. A number near its end begins again with the number of the next entry of the log, which is about as
  /// great as the number of commits.
  package mutating func advance() { sequence = nextSequence }

  private var nextSequence: UInt64 {
    if sequence < Self.nearEnd { return sequence + 1 }
    return nextAudit < Self.nearEnd ? nextAudit : 1
  }

  /// From here on, a count is near its end.
  package static let nearEnd: UInt64 = 1 << 61

  /// The counts that are near their end, in words.
  package borrowing func countsNearEnd() -> [String] {
    let counts: [(String, UInt64)] = [
      ("the number of its commits", sequence), ("the number of its changes of keys", config),
      ("the number of its next item", UInt64(nextRow)), ("the number of its rows", summedRows),
      ("the number of its next audit entry", nextAudit),
    ]
    return counts.filter { $0.1 >= Self.nearEnd }.map(\.0)
  }
}
