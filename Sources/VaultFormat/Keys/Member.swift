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

  /// - Throws: ``VaultError/Code/damaged``.
  init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: EnrolledSet.unreadable)
    record = fields.record
    id = try fields.bytes(Number.id, count: 16)
    source = try fields.required(MemberSource(rawValue: try fields.u8(Number.source)))
    label = try fields.string(Number.label)
    enrolled = Instant(milliseconds: try fields.i64(Number.enrolled))
    factor = Factor(rawValue: try fields.u32(Number.factor))
    try fields.check(factor.isMember && (source == .login) == (factor == .login))
  }

  package var encoded: [UInt8] { record.encoded }
}
