import VaultCrypto
import VaultStorage

/// The policy record of an item: access control, audit, exportability. Kept whole, with fields unknown to this version.
struct Policy: Sendable {
  let access: AccessControl
  let audit: AuditPolicy
  let record: Record

  init(access: AccessControl, audit: AuditPolicy, keeping record: Record = Record()) {
    self.access = access
    self.audit = audit
    var record = record
    record.set(1, u8: access.accessibility.rawValue)
    record.set(2, u8: access.thisDeviceOnly ? 1 : 0)
    record.set(3, u32: access.word)
    record.set(5, u8: audit.rawValue)
    // Exportable: nothing asks for it yet, and the format wants the field there.
    if record[6] == nil { record.set(6, u8: 0) }
    self.record = record
  }

  /// Unknown bits of the constraint word or another accessibility refuse to open: a rule that is not understood is not weakened.
  init(record: Record) throws(VaultError) {
    guard let number = try? record.u8(1), let only = try? record.u8(2), only <= 1,
      let word = try? record.u32(3), let audit = try? record.u8(5)
    else { throw VaultError(.damaged, "an item's policy is not readable") }
    guard let accessibility = Accessibility(rawValue: number), let policy = AuditPolicy(rawValue: audit),
      word & ~Self.knownBits == 0
    else {
      throw VaultError(
        .unsupported, "the item has an access rule that this version does not know",
        hint: "open it with the version of vaultctl that made it")
    }
    access = AccessControl(accessibility: accessibility, thisDeviceOnly: only == 1, word: word)
    self.audit = policy
    self.record = record
  }

  /// A token's life is a rule too: what this version cannot judge it does not open.
  var hasNoTokenLife: Bool { record[7] == nil }

  /// The SHA-256 of the record as stored, bound in `keys` and `secret`.
  var hash: [UInt8] { SHA256.hash(record.encoded) }

  private static let knownBits: UInt32 = 1 | 2 | 8 | 0x10 | 0x4000 | 0x8000 | 0x4000_0000 | 0x8000_0000
}
