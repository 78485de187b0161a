import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// The item that NAME, `--service` with `--account`, or `--id` means: one of the kind that the verb is about.
  ///
  /// - Throws: exit 1 if there is no such item, 2 if there are several.
  func target() throws -> Item {
    let kind = family?.kind
    let core = try vault.opened()
    if let id = self[Target.id] { return try checked(core.items(.id(id))[0], kind: kind) }
    if let name = self[ItemOptions.name] { return try checked(item(named: name, in: core), kind: kind) }
    let found = try core.items(
      .account(self[Target.account] ?? "", service: self[Target.service] ?? "", kind: kind))
    guard let item = found.first else {
      throw CommandError(
        .notFound, "there is no item of that service and account",
        hint: "'vaultctl ls' shows what there is")
    }
    guard found.count == 1 else {
      let names = found.prefix(Self.mostNamed).map {
        $0.name.map { "'\(printable($0))'" } ?? $0.id.hexadecimal
      }
      let more = found.count > names.count ? " and \(found.count - names.count) more" : ""
      throw CommandError.usage(
        "several items have that service and account: \(names.joined(separator: ", "))\(more)",
        hint: "give NAME or --id ID")
    }
    return item
  }

  /// How many of several items an error names.
  private static let mostNamed = 20

  var family: ItemFamily? { ItemFamily(of: verb) }

  private func item(named name: String, in core: VaultCore) throws -> Item {
    do throws(VaultError) { return try core.items(.name(name))[0] } catch {
      guard error.code == .itemNotFound else { throw error }
      let told = CommandError(error)
      if let hint = trashHint(for: name) { throw told.missing(name, hint: hint) }
      let near = try? NearNames(to: name, among: core.listing(of: nil).items.filter(isMeant))
      // A word alone that is no command may be a slip: it is not taken for a piece of some name.
      if isTyped, verb.takesPieceOfName, invocation.unknownWord == nil {
        if let item = near?.only {
          vault.sayOnce("using '\(printable(item.name ?? ""))'")
          return item
        }
        if let several = near?.several { throw several }
      }
      let listing = family?.listing.map { "'vaultctl \($0)' shows the names" }
      throw told.missing(name, hint: near?.question(for: verb.name) ?? listing ?? told.hint)
    }
  }

  /// Whether the verb can be about an item.
  private func isMeant(_ item: Item) -> Bool {
    // The credential of an entry is found by the entry.
    guard !item.isOwned else { return false }
    guard let kind = family?.kind, item.kind != kind else { return true }
    return code(of: item)?.kind == kind
  }

  private func checked(_ item: Item, kind: ItemKind?) throws -> Item {
    guard let kind, item.kind != kind else { return item }
    // The credential of an entry is found by the name of the entry.
    if let owned = try vault.opened().owned(by: item), owned.kind == kind { return owned }
    throw CommandError(
      .notFound, "the item of that name is no \(kind.word)", hint: "'vaultctl show' tells what it is")
  }
}

extension CommandError {
  /// The same error with the name that was typed.
  fileprivate func missing(_ name: String, hint: String?) -> CommandError {
    CommandError(exit, "there is no item '\(printable(name))'", hint: hint, code: code, recovery: recovery)
  }
}
