import VaultFormat
import SecretMemory
import VaultCrypto
import VaultLogging
import VaultStorage

extension WriteTransaction {
  /// Adds an entry. The device key opens its seal; the holder of the audit factor can check its place in the chain.
  mutating func log(_ note: AuditNote) throws(VaultError) {
    let operation = changes.begin()
    if head.segment == 0 || head.nextAudit - head.segmentFirst >= AuditChain.entriesPerSegment {
      try beginSegment()
    }
    var note = note
    note.caller = store.caller
    let (keys, vault, environment) = (store.keys.current, store.vault, store.environment)
    try head.append(note, keys: keys, vault: vault, environment: environment, to: &reading.store.rows)
    if VaultLog.isOn { changes.notes.append(note) }
    changes.done.insert(note)
    changes.end(operation)
    changes.seals += 1
    changes.isDirty = true
  }

  /// The number of the last entry.
  package var lastEntry: UInt64 { head.nextAudit - 1 }

  /// Starts a new chain from an audit root that this transaction stores.
  mutating func beginChain(_ root: SharedSecret) throws(VaultError) {
    head.nextChainKey = root.bytes.copy()
    try beginSegment()
  }

  /// Starts a segment and drops the oldest one beyond the limit. Needs no passcode: the chain keys are in the head
  /// row.
  private mutating func beginSegment() throws(VaultError) {
    let number = head.segment + 1
    let operation = changes.begin()
    let previous = number == 1 ? [UInt8](repeating: 0, count: 32) : head.auditMAC
    let row = SegmentRow(number: number, first: head.nextAudit, previous: previous, start: [])
    try store.rows.insertSegment(row)
    if number > AuditChain.segmentsKept {
      _ = try store.rows.deleteSegments(through: number - AuditChain.segmentsKept)
    }
    head.begin(row)
    changes.end(operation)
    changes.isDirty = true
  }
}
