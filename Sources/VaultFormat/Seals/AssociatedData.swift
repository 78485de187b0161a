package import VaultCrypto
package import VaultStorage

/// The associated data of every sealed part (docs/format/vault-file.md, section 4).
///
/// Each function lists the fields of one part; the numbers are the table's.
package enum AssociatedData {
  package static func meta(_ vault: VaultID, _ row: ItemRow) -> [UInt8] {
    Record.encoding(atMost: size) { putMeta(&$0, vault, row.fields) }
  }

  /// Lends the content of a row's `meta`. Nothing is allocated: this is done for every item that is looked at.
  package static func withMeta<R>(
    _ vault: VaultID, _ row: ItemFields, _ meta: RawSpan, openedWith seal: RecordSeal,
    _ body: (RawSpan) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let room = RecordSeal.roomBeforeAAD
    return try unsafe withUnsafeTemporaryAllocation(byteCount: room + size + meta.byteCount, alignment: 1) {
      (memory) throws(VaultError) in
      var fields = unsafe FieldWriter(UnsafeMutableRawBufferPointer(rebasing: memory[room..<room + size]))
      putMeta(&fields, vault, row)
      let aad = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<(room + fields.count)])
      var content = unsafe OutputRawSpan(
        buffer: UnsafeMutableRawBufferPointer(rebasing: memory[(room + size)...]), initializedCount: 0)
      try crypto { () throws(CryptoError) in
        try unsafe seal.open(meta, aadBehindRoom: aad, into: &content)
      }
      return try body(content.bytes)
    }
  }

  private static func putMeta(_ fields: inout FieldWriter, _ vault: VaultID, _ row: ItemFields) {
    begin(&fields, "meta", vault, item: row.id)
    fields.put(4, row.generation)
    fields.put(5, row.version)
    fields.put(6, row.class)
    fields.put(8, UInt64(bitPattern: row.row))
    fields.put(9, row.kind)
    fields.put(10, row.flags)
    if let expires = row.expires { fields.put(11, expires) }
    fields.put(12, row.primaryKey.high, row.primaryKey.low)
    if let name = row.name { fields.put(13, name.high, name.low) }
    fields.put(16, row.material)
  }

  package static func keys(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("keys", vault, item: row.id) { fields in
      fields.put(4, row.generation)
      fields.put(6, row.class)
      fields.put(7, policyHash)
      fields.put(9, row.kind)
    }
  }

  package static func alternative(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("alternative", vault, item: row.id) { fields in
      fields.put(6, row.class)
      fields.put(7, policyHash)
      fields.put(9, row.kind)
    }
  }

  package static func enrolled(_ vault: VaultID) -> [UInt8] { part("enrolled", vault) { _ in } }

  package static func secret(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("secret", vault, item: row.id) { fields in
      fields.put(5, row.material)
      fields.put(7, policyHash)
      fields.put(9, row.kind)
    }
  }

  package static func state(_ vault: VaultID, item: Bytes16, revision: UInt64) -> [UInt8] {
    part("state", vault, item: item) { $0.put(15, revision) }
  }

  package static func head(_ vault: VaultID) -> [UInt8] { part("head", vault) { _ in } }

  package static func audit(_ vault: VaultID, sequence: UInt64) -> [UInt8] {
    part("audit", vault) { $0.put(17, sequence) }
  }

  package static func slot(_ vault: VaultID, _ slot: SlotAddress, layer: UInt8, derivation: [UInt8]?)
    -> [UInt8]
  {
    // What a file says of its derivation, and of its opener, may be of any length.
    part("slot", vault, further: slot.openerID.count + (derivation?.count ?? 0)) { fields in
      if layer == 1 || slot.kind.bindsGenerationInside { fields.put(4, slot.generation) }
      fields.put(20, slot.kind.rawValue)
      fields.put(21, slot.subject)
      fields.put(22, slot.opener.rawValue)
      fields.put(23, slot.openerID)
      if let derivation { fields.put(24, derivation) }
      fields.put(25, layer)
    }
  }

  /// Room for the longest of them, `meta`, which takes 191 bytes.
  private static let size = 192

  /// Fields 1 to 3 and those that `rest` puts; `further` is what they take beyond ``size``.
  private static func part(
    _ name: StaticString, _ vault: VaultID, item: Bytes16? = nil, further: Int = 0,
    _ rest: (inout FieldWriter) -> Void
  ) -> [UInt8] {
    Record.encoding(atMost: size + further) { fields in
      begin(&fields, name, vault, item: item)
      rest(&fields)
    }
  }

  @inline(__always)
  private static func begin(
    _ fields: inout FieldWriter, _ name: StaticString, _ vault: VaultID, item: Bytes16?
  ) {
    fields.put(1, vault.high, vault.low)
    if let item { fields.put(2, item.high, item.low) }
    fields.put(3, name)
  }
}
