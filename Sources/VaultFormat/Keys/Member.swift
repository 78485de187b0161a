/// A member of the enrolled set.
package struct Member: Sendable, Equatable {
  private typealias Number = FieldNumber.MemberRecord

  /// 16 random bytes.
  package let id: [UInt8]
  package let source: MemberSource
  package let label: String
  package let enrolled: Instant
  package let factor: Factor
  private let record: Record

  package init(id: [UInt8], source: MemberSource, label: String, enrolled: Instant, factor: Factor) {
    self.id = id
    self.source = source
    self.label = label
    self.enrolled = enrolled
    self.factor = factor
    var record = Record()
    record[Number.id] = id
    record.set(Number.source, u8: source.rawValue)
    record.set(Number.label, string: label)
    record.set(Number.enrolled, i64: enrolled.milliseconds)
    record.set(Number.factor, u32: factor.rawValue)
    self.record = record
  }

  package init?(decoding bytes: [UInt8]) {
    guard let record = try? Record(decoding: bytes), let id = try? record.bytes(Number.id, count: 16),
      let source = (try? record.u8(Number.source)).flatMap(MemberSource.init),
      let label = try? record.string(Number.label),
      let enrolled = try? record.i64(Number.enrolled), let number = try? record.u32(Number.factor),
      Factor(rawValue: number).isMember,
      (source == .login) == (Factor(rawValue: number) == .login)
    else { return nil }
    self.id = id
    self.source = source
    self.label = label
    self.enrolled = Instant(milliseconds: enrolled)
    factor = Factor(rawValue: number)
    self.record = record
  }

  package var encoded: [UInt8] { record.encoded }
}
