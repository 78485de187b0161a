package import SecretMemory
import VaultCrypto
package import VaultStorage

/// The arithmetic of the audit chain (section 9): one MAC per entry, and keys that move forward and never back.
package enum AuditChain {
  package static let entriesPerSegment: UInt64 = 4096
  package static let segmentsKept: UInt64 = 64

  package static func mac(
    _ key: borrowing SecretBytes, previous: [UInt8], sequence: UInt64, record: [UInt8]
  ) -> [UInt8] {
    KeyedHMAC(key: key).code { message in
      message.append(previous)
      message.append(Int64(bitPattern: sequence).attributeBytes)
      message.append(SHA256.hash(record))
    }
  }

  /// The key of the next entry.
  package static func next(_ key: borrowing SecretBytes) -> SecretBytes { moved(key, Labels.auditNext) }

  /// The chain key C of the next segment.
  package static func nextChainKey(after key: borrowing SecretBytes) -> SecretBytes {
    moved(key, Labels.auditChain)
  }

  /// The key of a segment's first entry.
  package static func firstKey(of chainKey: borrowing SecretBytes) -> SecretBytes {
    moved(chainKey, Labels.auditSegment)
  }

  /// The MAC that the first entry of a segment is chained to.
  package static func anchor(number: UInt64, first: UInt64, previous: [UInt8]) -> [UInt8] {
    SHA256.hash(
      Labels.auditAnchor.utf8 + Int64(bitPattern: number).attributeBytes
        + Int64(bitPattern: first).attributeBytes + previous)
  }

  private static func moved(_ key: borrowing SecretBytes, _ label: Label) -> SecretBytes {
    KeyedHMAC(key: key).secretCode { $0.append(label.utf8) }
  }
}

extension SegmentRow {
  /// The MAC that the first entry of the segment is chained to. While the segment has no entry, this is the last MAC of
  /// the log.
  package var anchor: [UInt8] { AuditChain.anchor(number: number, first: first, previous: previous) }
}
