package import VaultFormat

extension WriteTransaction {
  /// What an entry keeps, which is about to be handed out.
  ///
  /// - Throws: As ``exportSecret(of:by:)``; ``VaultError/Code/policy`` for an item that is no password.
  package mutating func exportEntry(of item: Item) throws(VaultError) -> EntryContent {
    let opened = try reading.openEntry(of: item.id, .export)
    try log(opened.notes)
    return opened.content
  }
}
