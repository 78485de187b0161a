package import VaultFormat

extension WriteTransaction {
  /// What an entry keeps, which is about to be handed out in an export of all items, also from the trash.
  ///
  /// - Throws: As ``exportSecret(of:by:for:)``; ``VaultError/Code/policy`` for an item that is no password.
  package mutating func exportEntry(of item: Item) throws(VaultError) -> EntryContent {
    let opened = try reading.openEntry(of: item.id, .exportOfAll)
    try log(opened.notes)
    return opened.content
  }

  /// What a former version of an entry kept. The gate decides as for the present one.
  ///
  /// - Throws: As ``exportEntry(of:)``; ``VaultError/Code/itemNotFound`` for a version that there is not.
  package mutating func exportFormer(_ version: UInt64, of item: Item) throws(VaultError) -> EntryContent {
    let opened = try reading.openFormer(version, of: item.id, .exportOfAll)
    try log(opened.notes)
    return opened.content
  }
}
