import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

extension ReadTransaction {
  /// The item that prevents a new one from being added: one of the same kind with the same name or, if neither has a name,
  /// with the same primary attributes.
  ///
  /// - Throws: ``VaultError/Code/duplicateItem`` if the new one cannot replace it.
  package mutating func duplicate(of new: NewItem) throws(VaultError) -> Item? {
    let sameKey = try item(like: new)
    guard let name = new.attributes[.name] else {
      guard sameKey?.name == nil else { throw VaultError.sameAttributes }
      return sameKey
    }
    let sameName = try store.item(named: name)
    guard sameName == nil || sameName?.kind == new.kind else { throw VaultError.sameName }
    guard sameKey == nil || sameKey?.id == sameName?.id else { throw VaultError.sameAttributes }
    return sameName
  }

  private mutating func item(like new: NewItem) throws(VaultError) -> Item? {
    if let item = try item(like: new, under: store.keys.current) { return item }
    guard let previous = store.keys.previous else { return nil }
    return try item(like: new, under: previous)
  }

  private mutating func item(like new: NewItem, under keys: GenerationKeys) throws(VaultError) -> Item? {
    let index = keys.blindIndex
    let key = try index.primaryKey(of: new.kind, new.attributes, id: nil)
    guard let row = try store.rows.item(primaryKey: key) else { return nil }
    let item = try store.open(row)
    // The index that led here comes from the file, and no seal protects it.
    guard try index.primaryKey(of: item) == key else {
      throw VaultError(.damaged, "the vault's index leads to another item", hint: .verifyAndRestore)
    }
    return item
  }
}
