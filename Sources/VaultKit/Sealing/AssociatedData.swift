import VaultStorage

/// The associated data of every sealed part (docs/format/vault-file.md, section 4).
///
/// Each function lists the fields of one part; the numbers are the table's.
enum AssociatedData {
  static func meta(_ vault: VaultID, _ row: ItemRow) -> [UInt8] {
    var record = part("meta", vault)
    record[2] = row.id
    record.set(4, u32: row.generation)
    record.set(5, u64: row.version)
    record.set(6, u8: row.class)
    record.set(8, u64: UInt64(bitPattern: row.row))
    record.set(9, u32: row.kind)
    record.set(10, u32: row.flags)
    if let expires = row.expires { record.set(11, i64: expires) }
    record[12] = row.primaryKey
    if let name = row.name { record[13] = name }
    record.set(16, u64: row.material)
    return record.encoded
  }

  static func keys(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    var record = part("keys", vault)
    record[2] = row.id
    record.set(4, u32: row.generation)
    record.set(6, u8: row.class)
    record[7] = policyHash
    record.set(9, u32: row.kind)
    return record.encoded
  }

  static func secret(_ vault: VaultID, _ row: ItemRow, policyHash: [UInt8]) -> [UInt8] {
    var record = part("secret", vault)
    record[2] = row.id
    record.set(5, u64: row.material)
    record[7] = policyHash
    record.set(9, u32: row.kind)
    return record.encoded
  }

  static func state(_ vault: VaultID, item: [UInt8], revision: UInt64) -> [UInt8] {
    var record = part("state", vault)
    record[2] = item
    record.set(15, u64: revision)
    return record.encoded
  }

  static func head(_ vault: VaultID) -> [UInt8] { part("head", vault).encoded }

  static func audit(_ vault: VaultID, sequence: UInt64) -> [UInt8] {
    var record = part("audit", vault)
    record.set(17, u64: sequence)
    return record.encoded
  }

  static func slot(_ vault: VaultID, _ slot: SlotAddress, layer: UInt8, derivation: [UInt8]?) -> [UInt8] {
    var record = part("slot", vault)
    if layer == 1 || slot.kind.bindsGenerationInside { record.set(4, u32: slot.generation) }
    record.set(20, u8: slot.kind.rawValue)
    record.set(21, u32: slot.subject)
    record.set(22, u8: slot.opener.rawValue)
    record[23] = slot.openerID
    if let derivation { record[24] = derivation }
    record.set(25, u8: layer)
    return record.encoded
  }

  private static func part(_ name: String, _ vault: VaultID) -> Record {
    var record = Record()
    record[1] = vault.bytes
    record[3] = Array(name.utf8)
    return record
  }
}
