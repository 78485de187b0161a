import VaultKit

/// `vaultctl item list`.
func runItemList(_ command: Command) throws -> Outcome {
  try list(command, kind: command.invocation.text("kind").flatMap(ItemKind.init(word:)))
}

/// The items of a kind, or of all, in the order in which they were added.
func list(_ command: Command, kind: ItemKind?) throws -> Outcome {
  let items = try listed(command, kind)
  let json = JSON.object([("items", .array(items.map(\.json)))])
  switch command.invocation.text("format") {
  case "name": return Outcome(json: json, lines: items.compactMap(\.name).map(printable))
  case "id": return Outcome(json: json, lines: items.map(\.id.hexadecimal))
  default: return Outcome(json: json, lines: columns(items.map(\.row)))
  }
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
    try transaction.forEachItem { item throws(VaultError) in
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
