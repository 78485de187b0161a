package import VaultFormat

/// Items in the order of insertion, and those that do not open.
package struct ItemListing: Sendable {
  package struct Unreadable: Sendable {
    package let id: ItemID
    package let error: VaultError

    package init(_ id: ItemID, _ error: VaultError) { (self.id, self.error) = (id, error) }
  }

  package var items: [Item] = []
  package var unreadable: [Unreadable] = []
  /// The moment of the list, by which items have expired.
  package let moment: ExpiryMoment
}
