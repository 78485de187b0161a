package import SecretMemory
package import VaultKit
package import VaultCrypto

/// The data of a consent (section 12): its role, and for an issuer the code that ends it, hidden in an HMAC.
package struct ConsentRecord: ~Copyable, Sendable {
  /// Which side of a consent an item is.
  package enum Role: UInt8, Sendable {
    /// Asks another system for the code, and stores none.
    case holder = 1
    /// Judges the code.
    case issuer = 2
  }

  package let role: Role
  /// What the item's secret is.
  package let data: SecretBytes
  private let key: Range<Int>
  private let tag: Range<Int>

  /// A holder.
  package static func holding() -> ConsentRecord {
    var record = Record()
    record.set(1, u8: Role.holder.rawValue)
    return ConsentRecord(.holder, SecretBytes(copying: record.encoded))
  }

  /// An issuer of a code, under a new random key.
  ///
  /// - Parameter code: The digits, as ASCII.
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  package static func issuing(
    _ code: borrowing SecretBytes, random: any RandomSource
  ) throws(VaultError) -> ConsentRecord {
    let key = try random.newSecret(32)
    let tag = Self.tag(of: code, under: key)
    var record = Record()
    record.set(1, u8: Role.issuer.rawValue)
    let header: [UInt8] = [0, 2, 0, 0, 0, 32]
    let second: [UInt8] = [0, 3, 0, 0, 0, 32]
    let data = SecretBytes(capacity: record.encoded.count + 76) { output in
      unsafe output.append(copying: record.encoded.span.bytes)
      unsafe output.append(copying: header.span.bytes)
      key.expose { output.append(copying: $0) }
      unsafe output.append(copying: second.span.bytes)
      tag.expose { output.append(copying: $0) }
    }
    return ConsentRecord(.issuer, data, key: 13..<45, tag: 51..<83)
  }

  /// - Throws: ``VaultError/Code/damaged``, ``VaultError/Code/unsupported`` for a role that this version does not know.
  package init(_ data: consuming SecretBytes) throws(VaultError) {
    var values: [UInt16: Range<Int>] = [:]
    var number: UInt8 = 0
    do throws(RecordError) {
      (values, number) = try data.expose { (bytes) throws(RecordError) in
        var cursor = FieldCursor()
        var found: [UInt16: Range<Int>] = [:]
        while let (field, value) = try cursor.next(in: bytes) { found[field] = value }
        guard let role = found[1], role.count == 1 else { throw .missing(1) }
        return (found, unsafe bytes.unsafeLoad(fromByteOffset: role.lowerBound, as: UInt8.self))
      }
    } catch { throw Self.unreadable }
    guard let role = Role(rawValue: number) else {
      throw VaultError(
        .unsupported, "the consent has a role that this version does not know", hint: .useNewerVersion)
    }
    let (key, tag) = (values[2] ?? 0..<0, values[3] ?? 0..<0)
    let byteCount = role == .issuer ? 32 : 0
    guard key.count == byteCount, tag.count == byteCount else { throw Self.unreadable }
    self.init(role, data, key: key, tag: tag)
  }

  private init(
    _ role: Role, _ data: consuming SecretBytes, key: Range<Int> = 0..<0, tag: Range<Int> = 0..<0
  ) {
    self.role = role
    self.data = data
    self.key = key
    self.tag = tag
  }

  /// Whether this is the issuer of the code. Compares in constant time.
  package func issued(_ code: borrowing SecretBytes) -> Bool {
    guard role == .issuer else { return false }
    let key = data.expose { [key] in SecretBytes(copying: $0.extracting(key)) }
    let tag = data.expose { [tag] in SecretBytes(copying: $0.extracting(tag)) }
    return Self.tag(of: code, under: key).isEqualInConstantTime(to: tag)
  }

  private static func tag(of code: borrowing SecretBytes, under key: borrowing SecretBytes) -> SecretBytes {
    let mac = KeyedHMAC(key: key)
    return code.expose { code in mac.secretCode { $0.append(code) } }
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the consent is not readable", hint: "request it again")
  }
}
