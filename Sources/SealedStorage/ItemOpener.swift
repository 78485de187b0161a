package import VaultFormat
package import VaultKeys
package import VaultStorage

/// Opens what rows hold of items besides their secrets, many after one another: items of the same policy share it, and
/// the memory of their attributes.
package struct ItemOpener {
  private let vault: VaultID
  private let current: GenerationKeys
  private let previous: GenerationKeys?
  /// That of the item before: most have the same.
  package private(set) var policy: Policy?
  /// What was opened and is not in a list yet.
  private var columns: [OpenedItems.Columns] = []
  private var attributes: [UInt8] = []

  /// - Parameter policy: That of an item opened before.
  package init(vault: VaultID, keys: borrowing KeyRing, policy: Policy? = nil) {
    self.vault = vault
    self.policy = policy
    current = keys.current
    previous = keys.previous
  }

  /// Opens one item.
  ///
  /// - Throws: ``VaultError/Code/damaged`` also for what does not fit the clear columns.
  package mutating func open(_ row: ItemFields, _ meta: RawSpan) throws(VaultError) -> Item {
    var finished: [Item] = []
    try open(row, meta, into: &finished)
    return finished.first ?? Item(take(policy!), 0)
  }

  /// Opens an item for a list; there it is after ``finish(_:)`` at the latest.
  ///
  /// - Parameter isWanted: Says by columns, attributes and access control whether the item belongs into the list.
  /// - Throws: As ``open(_:_:)`` and the question.
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
      try share(content.extracting(policy), &list)
      guard self.policy!.access.classNumber == row.class else {
        throw VaultError(.damaged, "an item's class is not that of its policy")
      }
      guard try isWanted(row, attributeBytes, self.policy!.access) else { return }
      unsafe attributeBytes.withUnsafeBytes { unsafe self.attributes.append(contentsOf: $0) }
      columns.append(OpenedItems.Columns(row, end: self.attributes.count))
      if columns.count == Self.mostTogether || self.attributes.count >= Self.mostBytes { finish(&list) }
    }
  }

  /// How many items were opened for a list and are not in it.
  package var pending: Int { columns.count }

  /// Appends the items that were opened for a list and are not in it.
  package mutating func finish(_ list: inout [Item]) {
    guard let policy, !columns.isEmpty else { return }
    let opened = take(policy)
    for index in 0..<opened.count { list.append(Item(opened, index)) }
    // The next will be about as large.
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

  /// Makes `policy` the one with these bytes.
  private mutating func share(_ bytes: RawSpan, _ list: inout [Item]) throws(VaultError) {
    if policy?.record.isEncoded(as: bytes) ?? false { return }
    finish(&list)
    guard let record = try? Record(decoding: bytes.array) else { throw Self.unreadable }
    policy = try Policy(record: record)
  }

  private static var unreadable: VaultError { VaultError(.damaged, "an item is not readable") }

  /// Whoever keeps one item keeps the memory of these, so they are few, and fewer where their attributes are long.
  private static let mostTogether = 64
  private static let mostBytes = 16 << 10
}
