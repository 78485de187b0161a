import VaultCrypto
package import VaultFormat
package import VaultStorage

/// The blind index: values by which items are looked up without any attribute in clear (section 6).
package struct BlindIndex {
  package let key: GenerationKeys

  /// The value of one attribute.
  package func value(_ code: UInt16, _ bytes: [UInt8]) -> [UInt8] { stored(code, bytes).bytes }

  /// The first half of the HMAC. Message and code are on the stack, because each look-up computes one.
  private func stored(_ code: UInt16, _ bytes: [UInt8]) -> Bytes16 {
    let hashByteCount = 32
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: hashByteCount + 14 + bytes.count, alignment: 8
    ) { memory in
      let hash = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<hashByteCount])
      let message = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[hashByteCount...])
      var fields = unsafe FieldWriter(message)
      fields.put(FieldNumber.Index.code, code)
      fields.put(FieldNumber.Index.value, bytes)
      unsafe key.index.write(to: hash) { unsafe $0.append(message.bytes) }
      return unsafe Bytes16(
        high: UInt64(bigEndian: hash.load(as: UInt64.self)),
        low: UInt64(bigEndian: hash.load(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  /// The values of an item, sorted. One in the trash has none.
  package func values(of item: Item) -> [[UInt8]] { item.isInTrash ? [] : values(of: item.attributes) }

  /// The value of the name column of an item. One in the trash has none.
  package func name(of item: Item) -> Bytes16? { item.isInTrash ? nil : name(of: item.attributes) }

  /// The primary key of an item.
  ///
  /// - Throws: As ``primaryKey(of:_:id:)``.
  package func primaryKey(of item: Item) throws(VaultError) -> Bytes16 {
    item.isInTrash
      ? primaryKey(of: item.kind, id: item.id) : try primaryKey(of: item.kind, item.attributes, id: item.id)
  }

  /// The primary key of an item that is unique by its identifier: in the trash, or one without a name that another item names.
  package func primaryKey(of kind: ItemKind, id: ItemID) -> Bytes16 {
    var record = Record()
    record[1] = Array("pk".utf8)
    record.set(2, u32: kind.rawValue)
    record[4] = id.bytes
    return Bytes16(first: key.index.code(for: record.encoded))
  }

  /// The values of all indexed attributes that are present, sorted.
  package func values(of attributes: Attributes) -> [[UInt8]] {
    indexedAttributeCodes.compactMap { code in attributes.bytes(of: code).map { value(code, $0) } }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The value of the name column.
  package func name(of attributes: Attributes) -> Bytes16? {
    attributes.bytes(of: 1).map { name($0) }
  }

  package func name(_ bytes: [UInt8]) -> Bytes16 { stored(1, bytes) }

  /// The primary key: equal for two items of one kind with equal primary attributes.
  ///
  /// - Parameter id: Its identifier; `nil` for one that is only looked for.
  /// - Throws: ``VaultError/Code/unsupported`` where only the component of the kind knows what these are, and it is not linked.
  package func primaryKey(of kind: ItemKind, _ attributes: Attributes, id: ItemID?) throws(VaultError)
    -> Bytes16
  {
    if let id, kind.rules.attributes.namelessHasOwner, attributes.bytes(of: 1) == nil {
      return primaryKey(of: kind, id: id)
    }
    guard let codes = kind.rules.primaryAttributes(isNamed: attributes.bytes(of: 1) != nil) else {
      throw .unknownKind(kind)
    }
    var primary = Record()
    for code in codes {
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
