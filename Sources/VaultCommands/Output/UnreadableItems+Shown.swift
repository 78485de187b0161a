import CommandLineKit
import VaultKit
import VaultWords

/// What the help of a list says of items that do not open.
let noteOnUnreadableItems =
  "Items that do not open are named in the error, and the others are listed (10, or 15 when a newer version of this program "
  + "made them)."

extension CommandError {
  /// What a list says of the items that do not open, beside those that it lists; `nil` where all do.
  ///
  /// - Parameter listed: The items that open: those that are behind a damaged PIN are named too.
  init?(unreadable items: [ItemListing.Unreadable], beside listed: [Item] = []) {
    guard let first = items.first(where: { $0.error.code == .damaged }) ?? items.first else { return nil }
    let named = items.prefix(3).map(\.words).joined(separator: "; ")
    let more = items.count > 3 ? "; and \(items.count - 3) more" : ""
    let what = items.count == 1 ? "1 item does not open" : "\(items.count) items do not open"
    self.init(
      CommandError(first.error).exit, "\(what): \(named)\(more)\(Self.behind(items, listed))",
      hint: "the others are listed; 'vaultctl vault check' names each, 'vaultctl rm --id ID' removes one",
      code: first.error.code.rawValue)
  }

  private static func behind(_ unreadable: [ItemListing.Unreadable], _ listed: [Item]) -> String {
    let damaged = Set(unreadable.lazy.filter { $0.error.code == .damaged }.map(\.id))
    let items = listed.filter { $0.neededPINItem.map(damaged.contains) ?? false }
    guard !items.isEmpty else { return "" }
    let more = items.count > 3 ? " and \(items.count - 3) more" : ""
    return "; behind it as their PIN: "
      + items.prefix(3).map { $0.name ?? $0.id.hexadecimal }.joined(separator: ", ")
      + more
  }
}

extension ItemListing.Unreadable {
  /// The index can lead to a row that does not exist: that has no id.
  fileprivate var words: String {
    let isKnown = id.bytes.contains { $0 != 0 }
    return (isKnown ? "\(id.hexadecimal): " : "") + error.message
  }
}
