package import SecretMemory
package import VaultKit
package import VaultCrypto

/// The data of a biokey (section 11): 128 random bits, its PIN item, and the `D` of that PIN.
package struct BiokeyRecord: ~Copyable, Sendable {
  private enum Number {
    static let id: UInt16 = 1
    static let pin: UInt16 = 2
    static let secret: UInt16 = 3
  }

  /// What the item's secret is.
  package let data: SecretBytes
  private let secret: Range<Int>
  /// The item of the PIN that the biokey replaces.
  package let pin: ItemID

  /// A new biokey.
  ///
  /// - Parameter secret: `D` of the checked PIN, 32 bytes.
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  package static func make(
    for pin: ItemID, secret: borrowing SecretBytes, random: any RandomSource
  ) throws(VaultError) -> BiokeyRecord {
    let id = try random.newSecret(16)
    let data = SecretBytes(capacity: 82) { output in
      id.expose { output.append(field: Number.id, $0) }
      unsafe output.append(field: Number.pin, pin.bytes.span.bytes)
      secret.expose { output.append(field: Number.secret, $0) }
    }
    return try BiokeyRecord(data)
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(_ data: consuming SecretBytes) throws(VaultError) {
    let places: [UInt16: Range<Int>]
    do throws(RecordError) {
      places = try data.expose { (bytes) throws(RecordError) in
        var cursor = FieldCursor()
        var found: [UInt16: Range<Int>] = [:]
        while let (number, value) = try cursor.next(in: bytes) { found[number] = value }
        return found
      }
    } catch { throw Self.unreadable }
    guard places[Number.id]?.count == 16, let pinPlace = places[Number.pin],
      let secret = places[Number.secret], secret.count == 32,
      let pin = ItemID(data.expose { $0.extracting(pinPlace).array })
    else { throw Self.unreadable }
    self.secret = secret
    self.pin = pin
    self.data = data
  }

  /// Lends `D`.
  package func withSecret<R: ~Copyable>(_ body: (RawSpan) -> R) -> R {
    data.expose { body($0.extracting(secret)) }
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the biokey is not readable", hint: "reset the biokeys, and register a new one")
  }
}

extension OutputRawSpan {
  fileprivate mutating func append(field number: UInt16, _ value: RawSpan) {
    let count = UInt8(value.byteCount)
    let head: [UInt8] = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 0, 0, 0, count]
    unsafe append(copying: head.span.bytes)
    append(copying: value)
  }
}
