import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// The item that NAME, `--service` with `--account`, or `--id` means.
  ///
  /// - Throws: exit 1 if there is no such item, 2 if there are several.
  func target(in transaction: inout ReadTransaction, kind: ItemKind? = nil) throws -> Item {
    if let id = self[Target.id] { return try checked(transaction.item(id), kind: kind) }
    if let name = self[ItemOptions.name] { return try checked(transaction.item(named: name), kind: kind) }
    return try byAccount(in: &transaction, kind)
  }

  private func byAccount(in transaction: inout ReadTransaction, _ kind: ItemKind?) throws -> Item {
    var attributes = Attributes()
    attributes[.account] = self[Target.account]
    let service = self[Target.service] ?? ""
    let found = try transaction.items(matching: Query(kind, where: attributes)).filter {
      ($0.attributes[.service] ?? "") == service
    }
    guard let item = found.first else {
      throw CommandError(
        .notFound, "there is no item of that service and account",
        hint: "'vaultctl item list' shows what there is")
    }
    guard found.count == 1 else {
      throw CommandError.usage("several items have that service and account", hint: "give NAME or --id ID")
    }
    return item
  }

  private func checked(_ item: Item, kind: ItemKind?) throws -> Item {
    guard let kind, item.kind != kind else { return item }
    throw CommandError(
      .notFound, "the item of that name is no \(kind.word)", hint: "'vaultctl item show' tells what it is")
  }
}
