package import VaultFormat

/// Which item is meant.
package enum ItemTarget: Sendable {
  case id(ItemID)
  case name(String)
  case account(String, service: String, kind: ItemKind?)
}
