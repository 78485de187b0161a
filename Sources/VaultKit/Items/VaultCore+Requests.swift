import VaultFormat

/// Requests about items without their secrets. Each request and each answer is plain data, so that another process can
/// serve them.
extension VaultCore {
  /// The items that are meant. An identifier and a name mean one item; an account can mean several.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` for an identifier or a name that is not there.
  package func items(_ target: ItemTarget) throws(VaultError) -> [Item] {
    var transaction = try beginReading()
    switch target {
    case .id(let id): return [try transaction.item(id)]
    case .name(let name): return [try transaction.item(named: name)]
    case .account(let account, let service, let kind):
      var attributes = Attributes()
      attributes[.account] = account
      // Byte for byte, as the index compares: `==` of texts finds also what is only spelled alike.
      return try transaction.items(matching: Query(kind, where: attributes)).filter {
        ($0.attributes.bytes(of: Attribute<String>.service.code) ?? []) == Array(service.utf8)
      }
    }
  }

  /// The items that match, and those that do not open.
  ///
  /// - Parameter progress: Called now and then with the number of items that were read.
  package func listing(
    of kind: ItemKind?, where attributes: Attributes = Attributes(), progress: (Int) -> Void = { _ in }
  ) throws(VaultError) -> ItemListing {
    guard attributes.isEmpty else { return try listing(of: Query(kind, where: attributes)) }
    return try walk(progress: progress) { kind == nil || $0.kind == kind }
  }

  /// The time by which items expire.
  package func expiryTime() throws(VaultError) -> Instant {
    var transaction = try beginReading()
    try transaction.readTime()
    return transaction.expiryTime
  }

  /// How many items there are of each kind, and how many do not open.
  package func counts(
    progress: (Int) -> Void = { _ in }
  ) throws(VaultError) -> (byKind: [ItemKind: Int], unreadable: Int) {
    var byKind: [ItemKind: Int] = [:]
    let listing = try walk(progress: progress) { item in
      byKind[item.kind, default: 0] += 1
      return false
    }
    return (byKind, listing.unreadable.count)
  }

  /// - Parameter keeps: Whether an item is to be in the list.
  private func walk(
    progress: (Int) -> Void, _ keeps: (Item) -> Bool
  ) throws(VaultError) -> ItemListing {
    var transaction = try beginReading()
    var seen = 0
    try transaction.readTime()
    var listing = ItemListing(moment: transaction.expiryMoment)
    var walk = ItemWalk(keepingPages: false)
    while let found = try transaction.nextRow(&walk) {
      switch found {
      case .damaged(let id, let error):
        listing.unreadable.append(ItemListing.Unreadable(id, error))
      case .item(let item):
        seen += 1
        if seen % 1024 == 0 { progress(seen) }
        if !item.isInTrash, keeps(item) { listing.items.append(item) }
      }
    }
    listing.items = try transaction.named(listing.items)
    try listing.markCounters(in: &transaction)
    return listing
  }

  /// The items that the index finds, and those that do not open.
  package func listing(of query: Query) throws(VaultError) -> ItemListing {
    var transaction = try beginReading()
    var unreadable: [ItemListing.Unreadable] = []
    let items = try transaction.items(
      matching: query, damaged: { unreadable.append(ItemListing.Unreadable($0, $1)) })
    try transaction.readTime()
    var listing = ItemListing(
      items: try transaction.named(items), unreadable: unreadable, moment: transaction.expiryMoment)
    try listing.markCounters(in: &transaction)
    return listing
  }

  /// The state of an item.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item's kind has no state.
  package func state(of id: ItemID) throws(VaultError) -> ItemState {
    var transaction = try beginReading()
    return try transaction.state(of: id)
  }

  /// Deletes one item, without a prompt, whether it opens or not.
  package func delete(_ id: ItemID) throws(VaultError) {
    var transaction = try beginWriting(.delete(id), context: nil)
    try transaction.delete(id)
    try transaction.commit()
  }
}
