/// A single constraint of an item, and the factor that represented the constraint when the item was stored.
package struct BoundConstraint: Sendable, Equatable {
  private typealias Number = FieldNumber.Constraint

  package let flag: Constraints
  package let factor: Factor

  package init(flag: Constraints, factor: Factor) {
    self.flag = flag
    self.factor = factor
  }

  /// - Throws: ``VaultError/Code/damaged``, also if the factor does not belong to the flag.
  init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Policy.unreadable)
    flag = Constraints(rawValue: try fields.u32(Number.bit))
    factor = Factor(rawValue: try fields.u32(Number.factor))
    let isRight =
      switch flag {
      case .devicePasscode: factor == .passcode
      case .userPresence: factor == .presence
      case .biometryAny: factor == .any
      case .biometryCurrentSet: factor.isSet
      default: false
      }
    try fields.check(isRight)
  }

  package var encoded: [UInt8] {
    var record = Record()
    record.set(Number.bit, u32: flag.rawValue)
    record.set(Number.factor, u32: factor.rawValue)
    return record.encoded
  }
}
