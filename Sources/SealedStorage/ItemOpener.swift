package import VaultFormat
package import VaultKeys
package import VaultStorage

/// Opens everything in the rows of items except the secrets, for many items in sequence. Items with the same policy
/// share the policy and the memory of their attributes.
package struct ItemOpener {
  private let vault: VaultID
  private let current: GenerationKeys
  private let previous: GenerationKeys?
  /// The policy of the previous item: most items have the same one.
  package private(set) var policy: Policy?
  /// The items that were opened and are not in a list yet.
  private var columns: [OpenedItems.Columns] = []
  private var attributes: [UInt8] = []

  /// - Parameter policy: The policy of an item opened before.
  package init(vault: VaultID, keys: borrowing KeyRing, policy: Policy? = nil) {
    self.vault = vault
    self.policy = policy
    current = keys.current
    previous = keys.previous
  }

  /// Opens one item.
  ///
  /// - Throws: ``VaultError/Code/damaged`` also for content that does not match the clear columns.
  package mutating func open(_ row: ItemFields, _ meta: RawSpan) throws(VaultError) -> Item {
    var finished: [Item] = []
    try open(row, meta, into: &finished)
    return finished.first ?? Item(take(policy!), at: 0)
  }

  /// Opens an item for a list. The item is in the list after ``finish(_:)`` at the latest.
  ///
  /// - Parameter isWanted: Decides by columns, attributes and access control whether the item belongs in the list.
  /// - Throws: As ``open(_:_:)`` and `isWanted`.
  package mutating func open(
    _ row: ItemFields, _ meta: RawSpan, into list: inout [Item],
    where isWanted: (ItemFields, RawSpan, AccessControl) throws(VaultError) -> Bool = { _, _, _ in true }
  ) throws(VaultError) {
    guard !row.isDamaged else {
      throw VaultError(.damaged, "an item's row has a value that cannot be")
    }
    let seal = row.generation == current.generation ? current.meta : try keys(of: row.generation).meta
    try AssociatedData.withMeta(vault, row, meta, openedWith: seal) { (content) throws(VaultError) in
      guard let (attributes, policy) = try? Record.places(of: 1, 2, in: content) else {
        throw Self.unreadable
      }
      let attributeBytes = content.extracting(attributes)
      guard Attributes.areReadable(attributeBytes) else { throw Self.unreadable }
      try share(content.extracting(policy), with: &list)
      guard self.policy!.access.classNumber == row.class else {
        throw VaultError(.damaged, "an item's class is not that of its policy")
      }
      guard try isWanted(row, attributeBytes, self.policy!.access) else { return }
      unsafe attributeBytes.withUnsafeBytes { unsafe self.attributes.append(contentsOf: $0) }
      columns.append(OpenedItems.Columns(row, end: self.attributes.count))
      if columns.count == Self.mostTogether || self.attributes.count >= Self.mostBytes { finish(&list) }
    }
  }

  /// How many items were opened for a list and are not in the list yet.
  package var pending: Int { columns.count }

  /// Appends the items that were opened for a list and are not in the list yet.
  package mutating func finish(_ list: inout [Item]) {
    guard let policy, !columns.isEmpty else { return }
    let opened = take(policy)
    for index in 0..<opened.count { list.append(Item(opened, at: index)) }
    // The next group will be about as large.
    columns.reserveCapacity(opened.count)
    attributes.reserveCapacity(opened.byteCount + opened.byteCount / 8)
  }

  private mutating func take(_ policy: Policy) -> OpenedItems {
    defer { (columns, attributes) = ([], []) }
    return OpenedItems(policy: policy, columns: columns, attributes: attributes)
  }

  package func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
    if generation == current.generation { return current }
    if let previous, previous.generation == generation { return previous }
    throw VaultError(.damaged, "a row of the vault names a generation of keys that does not exist")
  }

  /// Sets `policy` to the policy with these bytes.
  private mutating func share(_ bytes: RawSpan, with list: inout [Item]) throws(VaultError) {
    if policy?.record.isEncoded(as: bytes) ?? false { return }
    finish(&list)
    guard let record = try? Record(decoding: bytes.array) else { throw Self.unreadable }
    policy = try Policy(record: record)
  }

  private static var unreadable: VaultError { VaultError(.damaged, "an item is not readable") }

  /// Keeping one item keeps the memory of all these items, so they are few, and fewer if their attributes are long.
  private static let mostTogether = 64
  private static let mostBytes = 16 << 10
}
