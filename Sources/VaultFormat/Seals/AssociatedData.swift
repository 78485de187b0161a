package import VaultCrypto
package import VaultStorage

/// The associated data of every sealed part (docs/format/vault-file.md, section 4).
///
/// Each function lists the fields of one part; the numbers are the table's.
package enum AssociatedData {
  private typealias Number = FieldNumber.Bound

  package static func meta(_ vault: VaultID, _ row: ItemRow) -> [UInt8] {
    Record.encoding(atMost: size) { putMeta(&$0, vault, row.fields) }
  }

  /// Lends the content of a row's `meta`. Allocates nothing, because it runs for every item that is examined.
  package static func withMeta(
    _ vault: VaultID, _ row: ItemFields, _ meta: RawSpan, openedWith seal: RecordSeal,
    _ body: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) {
    try withContent(of: meta, openedWith: seal, bound: { putMeta(&$0, vault, row) }, body)
  }

  /// Lends the content of a state. Allocates nothing, because it runs for every item of a list of tokens.
  package static func withState(
    _ vault: VaultID, item: Bytes16, revision: UInt64, _ sealed: RawSpan, openedWith seal: RecordSeal,
    _ body: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) {
    try withContent(
      of: sealed, openedWith: seal, bound: { putState(&$0, vault, item: item, revision: revision) }, body)
  }

  @inline(__always)
  private static func withContent(
    of sealed: RawSpan, openedWith seal: RecordSeal, bound put: (inout FieldWriter) -> Void,
    _ body: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) {
    let room = RecordSeal.roomBeforeAAD
    try unsafe withUnsafeTemporaryAllocation(byteCount: room + size + sealed.byteCount, alignment: 1) {
      (memory) throws(VaultError) in
      var fields = unsafe FieldWriter(UnsafeMutableRawBufferPointer(rebasing: memory[room..<room + size]))
      put(&fields)
      let aad = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<(room + fields.count)])
      var content = unsafe OutputRawSpan(
        buffer: UnsafeMutableRawBufferPointer(rebasing: memory[(room + size)...]), initializedCount: 0)
      do throws(CryptoError) { try unsafe seal.open(sealed, aadBehindRoom: aad, into: &content) } catch {
        throw VaultError(crypto: error)
      }
      try body(content.bytes)
    }
  }

  private static func putMeta(_ fields: inout FieldWriter, _ vault: VaultID, _ row: ItemFields) {
    begin(&fields, "meta", vault, item: row.id)
    fields.put(Number.generation, row.generation)
    fields.put(Number.version, row.version)
    fields.put(Number.class, row.class)
    fields.put(Number.row, UInt64(bitPattern: row.row))
    fields.put(Number.kind, row.kind)
    fields.put(Number.flags, row.flags)
    if let expires = row.expires { fields.put(Number.expires, expires) }
    fields.put(Number.primaryKey, row.primaryKey.high, row.primaryKey.low)
    if let name = row.name { fields.put(Number.name, name.high, name.low) }
    fields.put(Number.material, row.material)
  }

  package static func keys(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("keys", vault, item: row.id) { fields in
      fields.put(Number.generation, row.generation)
      fields.put(Number.class, row.class)
      fields.put(Number.policyHash, policyHash)
      fields.put(Number.kind, row.kind)
    }
  }

  package static func alternative(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("alternative", vault, item: row.id) { fields in
      fields.put(Number.class, row.class)
      fields.put(Number.policyHash, policyHash)
      fields.put(Number.kind, row.kind)
    }
  }

  package static func pin(_ vault: VaultID, item: ItemID) -> [UInt8] {
    part("pin", vault, item: item.stored) { _ in }
  }

  package static func enrolled(_ vault: VaultID) -> [UInt8] { part("enrolled", vault) { _ in } }

  package static func secret(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    part("secret", vault, item: row.id) { fields in
      fields.put(Number.version, row.material)
      fields.put(Number.policyHash, policyHash)
      fields.put(Number.kind, row.kind)
    }
  }

  package static func state(_ vault: VaultID, item: Bytes16, revision: UInt64) -> [UInt8] {
    Record.encoding(atMost: size) { putState(&$0, vault, item: item, revision: revision) }
  }

  private static func putState(
    _ fields: inout FieldWriter, _ vault: VaultID, item: Bytes16, revision: UInt64
  ) {
    begin(&fields, "state", vault, item: item)
    fields.put(Number.revision, revision)
  }

  package static func former(_ vault: VaultID, item: Bytes16, version: UInt64) -> [UInt8] {
    Record.encoding(atMost: size) { fields in
      begin(&fields, "former", vault, item: item)
      fields.put(Number.version, version)
    }
  }

  package static func head(_ vault: VaultID) -> [UInt8] { part("head", vault) { _ in } }

  package static func audit(_ vault: VaultID, sequence: UInt64) -> [UInt8] {
    part("audit", vault) { $0.put(Number.sequence, sequence) }
  }

  package static func slot(_ vault: VaultID, _ slot: SlotAddress, layer: UInt8, derivation: [UInt8]?)
    -> [UInt8]
  {
    // In a file, the derivation and the id of the opener may have any length.
    part("slot", vault, further: slot.openerID.count + (derivation?.count ?? 0)) { fields in
      if layer == 1 || slot.kind.bindsGenerationInside { fields.put(Number.generation, slot.generation) }
      fields.put(Number.slotKind, slot.kind.rawValue)
      fields.put(Number.slotSubject, slot.subject)
      fields.put(Number.slotOpener, slot.opener.rawValue)
      fields.put(Number.slotOpenerID, slot.openerID)
      if let derivation { fields.put(Number.derivation, derivation) }
      fields.put(Number.layer, layer)
    }
  }

  /// Room for the longest associated data, that of `meta`, which takes 191 bytes.
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
    fields.put(Number.vault, vault.high, vault.low)
    if let item { fields.put(Number.item, item.high, item.low) }
    fields.put(Number.part, name)
  }
}
