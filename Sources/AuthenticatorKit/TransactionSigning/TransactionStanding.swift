package import VaultKit

/// What became of a transaction, and until when it can be answered: attribute 92 (section 6).
package struct TransactionStanding: Sendable, Equatable {
  /// Until when it can be answered. It stays when the transaction has ended.
  package let deadline: Deadline
  private let stored: UInt8
  private let isOfLaterVersion: Bool

  package init(_ state: TransactionState, until deadline: Deadline) {
    (stored, isOfLaterVersion, self.deadline) = (state.number, false, deadline)
  }

  /// `nil` for fewer bytes. Of more, the first say what they always do.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 25 else { return nil }
    (stored, isOfLaterVersion) = (bytes.byte(at: 0), bytes.byteCount > 25)
    deadline = Deadline(bytes, at: 1)
  }

  /// `nil` for one that this version does not know, and for a standing with more bytes than it knows.
  package var state: TransactionState? { isOfLaterVersion ? nil : TransactionState(number: stored) }

  package var bytes: [UInt8] {
    [stored] + deadline.bytes
  }
}

extension Attributes {
  /// Of a transaction; `nil` where it is absent or has another form.
  package var standing: TransactionStanding? {
    get { lending(.standing) { TransactionStanding($0) } }
    set { self[.standing] = newValue?.bytes }
  }
}

extension Attribute where Value == [UInt8] {
  fileprivate static var standing: Self { Self(code: 92) }
}

extension WriteTransaction {
  /// Replaces the standing of a transaction. Needs no unlocked session, and does not ask the gate.
  package mutating func setStanding(
    _ standing: TransactionStanding, delivery: TransactionDelivery = .told, of id: ItemID
  ) throws(VaultError) {
    try changeAttributes(of: id) { attributes in
      attributes.standing = standing
      attributes.delivery = delivery
    }
  }

  /// Replaces what is stored about the delivery of a decision, as ``setStanding(_:delivery:of:)`` does.
  package mutating func setDelivery(_ delivery: TransactionDelivery, of id: ItemID) throws(VaultError) {
    try changeAttributes(of: id) { $0.delivery = delivery }
  }
}
