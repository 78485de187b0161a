/// A single constraint of an item, and the factor that represented the constraint when the item was stored.
package struct BoundConstraint: Sendable, Equatable {
  private typealias Number = FieldNumber.Constraint

  package let flag: Constraints
  package let factor: Factor

  package init(flag: Constraints, factor: Factor) {
    self.flag = flag
    self.factor = factor
  }

  /// `nil` if the factor does not belong to the flag.
  package init?(decoding bytes: [UInt8]) {
    guard let record = try? Record(decoding: bytes), let bit = try? record.u32(Number.bit),
      let number = try? record.u32(Number.factor)
    else { return nil }
    flag = Constraints(rawValue: bit)
    factor = Factor(rawValue: number)
    let isRight =
      switch flag {
      case .devicePasscode: factor == .passcode
      case .userPresence: factor == .presence
      case .biometryAny: factor == .any
      case .biometryCurrentSet: factor.isSet
      default: false
      }
    guard isRight else { return nil }
  }

  package var encoded: [UInt8] {
    var record = Record()
    record.set(Number.bit, u32: flag.rawValue)
    record.set(Number.factor, u32: factor.rawValue)
    return record.encoded
  }
}
