/// How long a token or a consent is valid (policy field 7, section 12).
package struct TokenLife: Sendable, Equatable {
  private typealias Number = FieldNumber.TokenLife

  package var issued: Instant
  /// Milliseconds since boot.
  package var issuedBootTime: UInt64
  /// 16 bytes.
  package var boot: [UInt8]
  /// In milliseconds.
  package var length: UInt64
  package var mostUses: UInt32
  /// The hash of the session, 32 bytes; `nil` without a session. The item's key then also needs the session.
  package var session: [UInt8]?

  package init(
    issued: Instant, issuedBootTime: UInt64, boot: [UInt8], length: UInt64, mostUses: UInt32,
    session: [UInt8]? = nil
  ) {
    self.issued = issued
    self.issuedBootTime = issuedBootTime
    self.boot = boot
    self.length = length
    self.mostUses = mostUses
    self.session = session
  }

  /// - Throws: ``VaultError/Code/unsupported`` for a field that this version does not know.
  init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Policy.unreadable)
    guard fields.record.numbers.allSatisfy({ Number.issued...Number.session ~= $0 }) else {
      throw Policy.unknownRule
    }
    self.init(
      issued: Instant(milliseconds: try fields.i64(Number.issued)),
      issuedBootTime: try fields.u64(Number.issuedBootTime),
      boot: try fields.bytes(Number.boot, count: 16), length: try fields.u64(Number.length),
      mostUses: try fields.u32(Number.mostUses),
      session: try fields.bytesIfPresent(Number.session, count: 32))
  }

  var encoded: [UInt8] {
    var record = Record()
    record.set(Number.issued, i64: issued.milliseconds)
    record.set(Number.issuedBootTime, u64: issuedBootTime)
    record[Number.boot] = boot
    record.set(Number.length, u64: length)
    record.set(Number.mostUses, u32: mostUses)
    record[Number.session] = session
    return record.encoded
  }
}
