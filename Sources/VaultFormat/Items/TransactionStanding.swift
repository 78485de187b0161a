import VaultStorage

/// What became of a transaction, and until when it can be answered: attribute 92 (section 6).
package struct TransactionStanding: Sendable, Equatable, AttributeValue {
  /// `nil` for one that this version does not know.
  package var state: TransactionState? { TransactionState(rawValue: stored) }
  /// Decided or not.
  package let deadline: Deadline
  private let stored: UInt8

  package init(_ state: TransactionState, until deadline: Deadline) {
    (stored, self.deadline) = (state.rawValue, deadline)
  }

  package static var attributeTypeTag: UInt8 { [UInt8].attributeTypeTag }
  package var attributeBytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 9)
    bytes[0] = stored
    bytes.setBigEndian(deadline.milliseconds, at: 1)
    return bytes + deadline.boot.bytes
  }
  package init?(attributeBytes bytes: [UInt8]) {
    guard bytes.count == 25 else { return nil }
    stored = bytes[0]
    deadline = Deadline(
      milliseconds: bytes.bigEndian(at: 1),
      boot: Bytes16(high: bytes.bigEndian(at: 9), low: bytes.bigEndian(at: 17)))
  }
}

extension Attribute where Value == TransactionStanding {
  package static var standing: Self { Self(code: 92) }
}
