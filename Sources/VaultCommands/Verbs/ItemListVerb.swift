import VaultKit

/// `vaultctl item list`.
func runItemList(_ command: Command) throws -> Outcome {
  try list(command, kind: command.invocation.text("kind").flatMap(ItemKind.init(word:)))
}

/// The items of a kind, or of all, in the order in which they were added.
///
/// All are opened before the first is printed: where one is damaged nothing is printed, and a reader that stops in the
/// middle of the list keeps no state of the vault open. What is held of each is its attributes; its line is made as it
/// is printed.
func list(_ command: Command, kind: ItemKind?) throws -> Outcome {
  let items = try listed(command, kind)
  let json = JSON.object([("items", .list(count: items.count) { items[$0].json })])
  let line: @Sendable (Item) -> String?
  switch command.invocation.text("format") {
  case _ where command.isJSON: line = { _ in nil }
  case "name": line = { $0.name.map(printable) }
  case "id": line = { $0.id.hexadecimal }
  default:
    let layout = ColumnLayout(of: items.lazy.map(\.row))
    line = { layout.line($0.row) }
  }
  return Outcome(json: json, pieces: [.lines(count: items.count) { line(items[$0]) }])
}

private func listed(_ command: Command, _ kind: ItemKind?) throws -> [Item] {
  var attributes = Attributes()
  let service = command.invocation.text("service")
  if let service, !service.isEmpty { attributes[.service] = service }
  let progress = command.progress("listing")
  defer { progress.finish() }
  return try command.vault.opened().read { transaction in
    guard attributes == Attributes() else {
      var query = Query(kind, where: attributes)
      query.constrained = .unasked
      return try transaction.items(matching: query)
    }
    var items: [Item] = []
    var seen = 0
    try transaction.forEachItem(keepingPages: false) { item throws(VaultError) in
      seen += 1
      if seen % 1024 == 0 { progress.update(done: seen, of: 0) }
      let isService = service == nil || item.attributes[.service] == nil
      if isService, kind == nil || item.kind == kind { items.append(item) }
      return true
    }
    return items
  }
}

extension Item {
  fileprivate var row: [String] {
    [
      name ?? id.hexadecimal, kind.word, attributes[.issuer] ?? attributes[.service] ?? "",
      attributes[.account] ?? "",
    ]
  }
}
