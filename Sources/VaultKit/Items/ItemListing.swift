package import VaultFormat

/// Items in the order of insertion, and those that do not open.
package struct ItemListing: Sendable {
  package struct Unreadable: Sendable {
    package let id: ItemID
    package let error: VaultError
  }

  package var items: [Item] = []
  package var unreadable: [Unreadable] = []
}
