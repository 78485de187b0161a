/// A row of `item`.
package struct ItemRow: Equatable, Sendable {
  /// From 1.
  package var row: Int64
  package var id: Bytes16
  package var kind: UInt32
  package var primaryKey: Bytes16
  package var name: Bytes16?
  package var flags: UInt32
  package var `class`: UInt8
  package var generation: UInt32
  package var version: UInt64
  package var material: UInt64
  /// Milliseconds since 1970.
  package var expires: Int64?
  package var meta: [UInt8]
  /// As of ``ItemFields``.
  package var isDamaged = false

  package init(
    row: Int64, id: Bytes16, kind: UInt32, primaryKey: Bytes16, name: Bytes16?, flags: UInt32,
    class: UInt8, generation: UInt32, version: UInt64, material: UInt64, expires: Int64?, meta: [UInt8]
  ) {
    self.row = row
    self.id = id
    self.kind = kind
    self.primaryKey = primaryKey
    self.name = name
    self.flags = flags
    self.class = `class`
    self.generation = generation
    self.version = version
    self.material = material
    self.expires = expires
    self.meta = meta
  }

  /// All columns but `meta`.
  package var fields: ItemFields {
    ItemFields(
      row: row, id: id, kind: kind, primaryKey: primaryKey, name: name, flags: flags, class: `class`,
      generation: generation, version: version, material: material, expires: expires, isDamaged: isDamaged)
  }
}

extension ItemRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    let fields = try ItemFields(row)
    self.init(
      row: fields.row, id: fields.id, kind: fields.kind, primaryKey: fields.primaryKey, name: fields.name,
      flags: fields.flags, class: fields.class, generation: fields.generation,
      version: fields.version, material: fields.material, expires: fields.expires,
      meta: try row.blobBytes(11))
    isDamaged = fields.isDamaged
  }
}
