import VaultFormat

/// The operations that a session has committed, for a caller that wants to tell what stays when a later step fails. It takes no
/// memory, because each commit notes them.
package struct DoneOperations: Sendable {
  package internal(set) var bits: UInt64 = 0

  package init(bits: UInt64 = 0) { self.bits = bits }

  mutating func insert(_ note: AuditNote) {
    guard note.result == .success, note.operation.rawValue < 64, note.operation.isChange else { return }
    bits |= 1 << UInt64(note.operation.rawValue)
  }

  /// Their names in the audit, in the order of their numbers.
  package var names: [String] {
    (0..<64).filter { bits & 1 << UInt64($0) != 0 }.map { AuditOperation(rawValue: UInt16($0)).name }
  }
}
