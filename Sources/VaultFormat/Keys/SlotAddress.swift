package import VaultStorage

/// The clear part of a slot. The whole address is associated data of the seal, and the header MAC covers it.
package struct SlotAddress: Sendable, Equatable {
  package var kind: SlotKind
  package var subject: UInt32 = 0
  package var generation: UInt32
  package var opener: SlotOpener
  package var openerID: [UInt8] = []

  package init(
    _ kind: SlotKind, subject: UInt32 = 0, generation: UInt32, opener: SlotOpener, openerID: [UInt8] = []
  ) {
    self.kind = kind
    self.subject = subject
    self.generation = generation
    self.opener = opener
    self.openerID = openerID
  }

  /// The address of a stored slot; `nil` for a kind or an opener this version does not know.
  package init?(_ row: SlotRow) {
    guard let kind = SlotKind(rawValue: row.kind), let opener = SlotOpener(rawValue: row.opener) else {
      return nil
    }
    self.init(
      kind, subject: row.subject, generation: row.generation, opener: opener, openerID: row.openerID)
  }

  /// Whether this is a class key that also needs this device's root key.
  package var isThisDeviceOnly: Bool { kind == .classKey && subject & 0x80 != 0 }

  package func row(id: Int64, body: [UInt8]) -> SlotRow {
    SlotRow(
      id: id, kind: kind.rawValue, subject: subject, generation: generation, opener: opener.rawValue,
      openerID: openerID, body: body)
  }
}
