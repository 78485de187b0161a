import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

extension Head {
  /// Adds an audit entry. The device key opens its seal; the holder of the audit factor can check its place in the
  /// chain.
  mutating func append(
    _ note: AuditNote, keys: GenerationKeys, vault: VaultID, environment: VaultEnvironment,
    to rows: inout VaultRows
  ) throws(VaultError) {
    let sequence = nextAudit
    let record = note.encoded(by: environment.process, at: environment.clock)
    let body = try keys.sealEntry(record, sequence: sequence, in: vault, random: environment.random)
    let mac = AuditChain.mac(auditKey, previous: auditMAC, sequence: sequence, record: record)
    try rows.appendAudit(AuditRow(sequence: sequence, body: body, mac: mac))
    auditKey = AuditChain.next(auditKey)
    auditMAC = mac
    nextAudit += 1
  }

  /// Advances the keys to the first entry of a segment.
  mutating func begin(_ row: SegmentRow) {
    segment = row.number
    segmentFirst = row.first
    auditKey = AuditChain.firstKey(of: nextChainKey)
    nextChainKey = AuditChain.nextChainKey(after: nextChainKey)
    auditMAC = row.anchor
  }
}
