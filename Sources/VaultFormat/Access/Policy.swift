import VaultCrypto

/// The policy record of an item: access control, audit, exportability. The record is kept whole, including fields
/// unknown to this version.
package struct Policy: Sendable {
  private typealias Number = FieldNumber.PolicyRecord

  package let access: AccessControl
  package let audit: AuditPolicy
  package let record: Record

  /// - Parameters:
  ///   - factors: The factor for each single constraint of a new item.
  ///   - record: The record of an existing item; its constraints stay.
  package init(
    access: AccessControl, audit: AuditPolicy, factors: [BoundConstraint] = [],
    keeping record: Record = Record()
  ) {
    self.access = access
    self.audit = audit
    var record = record
    record.set(Number.accessibility, u8: access.accessibility.rawValue)
    record.set(Number.thisDeviceOnly, u8: access.thisDeviceOnly ? 1 : 0)
    record.set(Number.constraintWord, u32: access.word)
    if !factors.isEmpty { record[Number.constraints] = Record.list(factors.map(\.encoded)).encoded }
    record.set(Number.audit, u8: audit.rawValue)
    // Exportable: no code uses the field yet, but the format requires it.
    if record[Number.exportable] == nil { record.set(Number.exportable, u8: 0) }
    self.record = record
  }

  /// Refuses unknown bits of the constraint word and an unknown accessibility, so that a rule that this version does
  /// not understand is never weakened.
  package init(record: Record) throws(VaultError) {
    guard let number = try? record.u8(Number.accessibility), let only = try? record.u8(Number.thisDeviceOnly),
      only <= 1,
      let word = try? record.u32(Number.constraintWord), let audit = try? record.u8(Number.audit),
      let exportable = try? record.u8(Number.exportable),
      exportable <= 1
    else { throw VaultError(.damaged, "an item's policy is not readable") }
    guard let accessibility = Accessibility(rawValue: number), let policy = AuditPolicy(rawValue: audit),
      word & ~Self.knownBits == 0
    else {
      throw VaultError(
        .unsupported, "the item has an access rule that this version does not know",
        hint: .useNewerVersion)
    }
    access = AccessControl(accessibility: accessibility, thisDeviceOnly: only == 1, word: word)
    self.audit = policy
    self.record = record
  }

  /// A token's lifetime is a rule too. This version cannot check it, and so does not open the item.
  package var hasNoTokenLife: Bool { record[Number.tokenLife] == nil }

  /// The SHA-256 of the record as stored, bound in `keys` and `secret`.
  package var hash: [UInt8] { SHA256.hash(record.encoded) }

  /// The constraints with their factors.
  ///
  /// - Throws: ``VaultError/Code/damaged`` if they do not match the constraint word: a rule without its factor opens
  ///   nothing.
  package func boundConstraints() throws(VaultError) -> [BoundConstraint] {
    let single = access.constraints.single
    guard let bytes = record[Number.constraints] else {
      guard single.isEmpty else { throw Self.unreadable }
      return []
    }
    guard let list = try? Record(decoding: bytes).list() else { throw Self.unreadable }
    var bound: [BoundConstraint] = []
    for entry in list {
      guard let constraint = BoundConstraint(decoding: entry) else { throw Self.unreadable }
      bound.append(constraint)
    }
    bound.sort { $0.factor.rawValue < $1.factor.rawValue }
    guard
      bound.map(\.flag).sorted(by: { $0.rawValue < $1.rawValue })
        == single.sorted(by: { $0.rawValue < $1.rawValue })
    else { throw Self.unreadable }
    return bound
  }

  /// The ways to the data key. Each way is a list of factors, and needs all of them. With `or`, each constraint has its
  /// own way; otherwise there is one way.
  package func ways() throws(VaultError) -> [[Factor]] {
    let factors = try boundConstraints().map(\.factor)
    return access.constraints.contains(.or) ? factors.map { [$0] } : [factors]
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "an item's access rule is not readable", hint: "restore the vault from a backup")
  }

  private static let knownBits: UInt32 = 1 | 2 | 8 | 0x10 | 0x4000 | 0x8000 | 0x4000_0000 | 0x8000_0000
}
