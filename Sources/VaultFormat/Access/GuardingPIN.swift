/// The PIN item that guards the key of an item (policy field 8).
package struct GuardingPIN: Sendable, Hashable {
  private typealias Number = FieldNumber.GuardingPIN

  package let mode: PINMode
  package let item: ItemID

  package init(_ mode: PINMode, item: ItemID) {
    self.mode = mode
    self.item = item
  }

  /// - Throws: ``VaultError/Code/unsupported`` for another mode or a field that this version does not know.
  init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Policy.unreadable)
    guard let mode = PINMode(rawValue: try fields.u8(Number.mode)),
      fields.record.numbers.allSatisfy({ [Number.mode, Number.item].contains($0) })
    else { throw Policy.unknownRule }
    self.init(mode, item: try fields.required(fields.record[Number.item].flatMap(ItemID.init)))
  }

  /// The PIN item that a policy names, also in a mode or with a field that this version does not know.
  static func item(in policy: Record) -> ItemID? {
    guard let bytes = policy[FieldNumber.PolicyRecord.guardingPIN], let record = try? Record(decoding: bytes)
    else { return nil }
    return record[Number.item].flatMap(ItemID.init)
  }

  var encoded: [UInt8] {
    var record = Record()
    record.set(Number.mode, u8: mode.rawValue)
    record[Number.item] = item.bytes
    return record.encoded
  }
}
