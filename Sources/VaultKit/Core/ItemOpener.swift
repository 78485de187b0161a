import VaultCrypto
import VaultStorage

/// Opens what a row holds of an item besides its secret.
struct ItemOpener {
  private let vault: VaultID
  private let current: GenerationKeys
  private let previous: GenerationKeys?
  /// That of the item before: most have the same.
  private var policy: Policy?

  init(vault: VaultID, keys: borrowing KeyRing) {
    self.vault = vault
    current = keys.current
    previous = keys.previous
  }

  /// - Throws: ``VaultError/Code/damaged`` also for what does not fit the clear columns.
  mutating func open(_ row: ItemFields, _ meta: RawSpan) throws(VaultError) -> Item {
    let keys = try keys(of: row.generation)
    let content = try crypto { () throws(CryptoError) in
      try AssociatedData.openMeta(vault, row, meta, with: keys.meta)
    }
    guard let record = try? Record(decoding: content), let attributeBytes = record[1],
      let policyBytes = record.slice(2), let attributeRecord = try? Record(decoding: attributeBytes)
    else { throw VaultError(.damaged, "an item is not readable") }
    let attributes = try Attributes(record: attributeRecord)
    let policy = try policy(policyBytes)
    guard policy.access.classNumber == row.class else {
      throw VaultError(.damaged, "an item's class is not that of its policy")
    }
    return Item(
      id: ItemID(row.id), kind: ItemKind(rawValue: row.kind), attributes: attributes, access: policy.access,
      audit: policy.audit, created: attributes.date(.creationDate),
      modified: attributes.date(.modificationDate), expires: row.expires.map { Instant(milliseconds: $0) },
      hasSecret: row.flags & ItemFlags.hasSecret != 0, version: row.version, row: row.row, policy: policy)
  }

  func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
    if generation == current.generation { return current }
    if let previous, previous.generation == generation { return previous }
    throw VaultError(.damaged, "a row of the vault names a generation of keys that does not exist")
  }

  private mutating func policy(_ bytes: ArraySlice<UInt8>) throws(VaultError) -> Policy {
    if let policy, policy.record.isEncoded(as: bytes) { return policy }
    guard let record = try? Record(decoding: Array(bytes)) else {
      throw VaultError(.damaged, "an item is not readable")
    }
    let policy = try Policy(record: record)
    self.policy = policy
    return policy
  }
}
