import VaultCrypto
import VaultStorage

/// The blind index: what can be looked up without an attribute in clear (section 6).
struct BlindIndex {
  let key: GenerationKeys

  /// The value of one attribute.
  func value(_ code: UInt16, _ bytes: [UInt8]) -> [UInt8] { stored(code, bytes).bytes }

  /// The first half of the HMAC. Each look-up makes one: message and code lie on the stack.
  private func stored(_ code: UInt16, _ bytes: [UInt8]) -> Bytes16 {
    let hashByteCount = 32
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: hashByteCount + 14 + bytes.count, alignment: 8
    ) { memory in
      let hash = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<hashByteCount])
      let message = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[hashByteCount...])
      var fields = unsafe FieldWriter(message)
      fields.put(1, code)
      fields.put(2, bytes)
      unsafe key.index.write(to: hash) { unsafe $0.append(message.bytes) }
      return unsafe Bytes16(
        high: UInt64(bigEndian: hash.load(as: UInt64.self)),
        low: UInt64(bigEndian: hash.load(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  /// The values of all indexed attributes that are present, sorted.
  func values(of attributes: Attributes) -> [[UInt8]] {
    indexedAttributeCodes.compactMap { code in attributes.bytes(of: code).map { value(code, $0) } }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The value of the name column.
  func name(of attributes: Attributes) -> Bytes16? {
    attributes.bytes(of: 1).map { name($0) }
  }

  func name(_ bytes: [UInt8]) -> Bytes16 { stored(1, bytes) }

  /// The primary key: two items of one kind with equal primary attributes collide in it.
  func primaryKey(of kind: ItemKind, _ attributes: Attributes) -> Bytes16 {
    var primary = Record()
    for code in kind.primaryAttributes {
      let absent: [UInt8] = code == 17 || code == 19 ? Int64(0).attributeBytes : []
      primary[code] = attributes.bytes(of: code) ?? absent
    }
    primary[12] = attributes.bytes(of: 12) ?? []
    primary[13] = attributes.bytes(of: 13) ?? [0]
    primary[0xFFF0] = []
    primary[0xFFF1] = []
    var record = Record()
    record[1] = Array("pk".utf8)
    record.set(2, u32: kind.rawValue)
    record[3] = primary.encoded
    return Bytes16(first: key.index.code(for: record.encoded))
  }
}

/// What a row adds to the head row's S (section 8).
struct Summand {
  let key: GenerationKeys

  func item(_ row: ItemRow) -> Sum256 { value(1, row.row, row.meta.tag) }
  func material(_ row: Int64, _ material: MaterialRow) -> Sum256 {
    value(2, row, material.keys.tag, material.secret.tag)
  }
  func state(_ row: Int64, _ body: [UInt8]) -> Sum256 { value(3, row, body.tag) }
  func blind(_ row: Int64, _ value: [UInt8]) -> Sum256 { self.value(4, row, value[...]) }

  func value(_ table: UInt8, _ row: Int64, _ tag: ArraySlice<UInt8>, _ second: ArraySlice<UInt8> = [])
    -> Sum256
  {
    unsafe withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { code in
      unsafe key.sum.write(to: code) { message in
        // The byte of the table, which is the last of its word, and the row in big endian.
        unsafe withUnsafeBytes(of: (UInt64(table).bigEndian, row.bigEndian)) {
          unsafe message.append($0.bytes.extracting(7..<16))
        }
        unsafe tag.withUnsafeBytes { unsafe message.append($0.bytes) }
        unsafe second.withUnsafeBytes { unsafe message.append($0.bytes) }
      }
      return unsafe Sum256(UnsafeRawBufferPointer(code).bytes)
    }
  }
}
