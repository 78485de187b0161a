/// A row of `audit`.
package struct AuditRow: Equatable, Sendable {
  package var sequence: UInt64
  package var body: [UInt8]
  /// 32 bytes; of any length where the file is damaged.
  package var mac: [UInt8]

  package init(sequence: UInt64, body: [UInt8], mac: [UInt8]) {
    self.sequence = sequence
    self.body = body
    self.mac = mac
  }
}
