package import VaultFormat
import VaultKeys
package import VaultStorage

/// A former secret of an item, as the file has it.
package struct FormerSecret: Sendable {
  /// The version of the material that it was.
  package let version: UInt64
  /// When another secret took its place.
  package let until: Instant
  /// Whether it is the record of an entry; otherwise it is a password.
  package let isEntry: Bool
  package let row: FormerRow

  fileprivate init(_ row: FormerRow, content: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(
      content,
      or: VaultError(.damaged, "a former secret is not readable", hint: "restore the vault from a backup"))
    self.row = row
    version = row.version
    until = Instant(milliseconds: try fields.i64(FieldNumber.Former.until))
    isEntry = try fields.u32(FieldNumber.Former.flags) & ItemFlags.entry != 0
  }
}

extension SealedStore {
  /// The rows of former secrets of an item, the oldest first. They open or not.
  package mutating func formerRows(of row: ItemRow) throws(VaultError) -> [FormerRow] {
    guard try rows.hasFormer() else { return [] }
    return try rows.former(row: row.row)
  }

  /// One former secret of an item.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  package mutating func former(_ version: UInt64, of row: ItemRow) throws(VaultError) -> FormerSecret {
    guard let found = try formerRows(of: row).first(where: { $0.version == version }) else {
      throw VaultError(.itemNotFound, "the entry has no former version \(version)", hint: .showHistory)
    }
    return try opened(found, of: row)
  }

  private func opened(_ former: FormerRow, of row: ItemRow) throws(VaultError) -> FormerSecret {
    let content = try keys(of: row.generation).openFormer(
      former.meta, version: former.version, of: row.id, in: vault)
    return try FormerSecret(former, content: content)
  }

  /// Why a former secret does not open, as far as the keys that are at hand tell; `nil` if it does.
  package mutating func damage(of former: FormerRow, of row: ItemRow, _ item: Item) throws(VaultError)
    -> VaultError?
  {
    do throws(VaultError) {
      _ = try opened(former, of: row)
      try check(
        MaterialRow(keys: former.keys, secret: former.secret), of: row.asOf(former.version), item: item)
      return nil
    } catch {
      guard error.isUnreadable || error.code == .locked else { throw error }
      return error.code == .locked ? nil : error
    }
  }

  /// The versions of the former secrets of an item that are not damaged.
  package mutating func soundFormer(of item: Item) throws(VaultError) -> Set<UInt64> {
    guard let row = try rows.item(row: item.row) else { return [] }
    var sound: Set<UInt64> = []
    for former in try formerRows(of: row) {
      if try damage(of: former, of: row, item).map(\.isNewerVersion) ?? true { sound.insert(former.version) }
    }
    return sound
  }

  /// What is known of the former secrets of an item, the oldest first. Opens none of the secrets.
  package mutating func former(of row: ItemRow) throws(VaultError) -> [FormerSecret] {
    var found: [FormerSecret] = []
    for former in try formerRows(of: row) { found.append(try opened(former, of: row)) }
    return found
  }

  /// A secret that another one replaces, as a former one.
  ///
  /// - Parameters:
  ///   - row: The row of the item before.
  ///   - material: Its secret, which stays sealed as it is.
  package func former(
    _ material: MaterialRow, of row: ItemRow, until now: Instant
  ) throws(VaultError) -> FormerRow {
    var record = Record()
    record.set(FieldNumber.Former.until, i64: now.milliseconds)
    record.set(FieldNumber.Former.flags, u32: row.flags & ItemFlags.entry)
    let meta = try keys(of: row.generation).sealFormer(
      record.encoded, version: row.material, of: row.id, in: vault, random: environment.random)
    return FormerRow(version: row.material, meta: meta, keys: material.keys, secret: material.secret)
  }

  /// A former secret with what binds it to its item.
  package func sealedSecret(
    _ former: FormerSecret, of row: ItemRow, _ item: Item
  ) throws(VaultError) -> SealedSecret {
    let material = MaterialRow(keys: former.row.keys, secret: former.row.secret)
    return try SealedSecret(vault, row.asOf(former.version), item.policy, material)
  }
}

extension ItemRow {
  /// The row as it was when its material had this version, as far as the material is bound to it.
  package func asOf(_ version: UInt64) -> ItemRow {
    var row = self
    row.material = version
    return row
  }
}
