import AuthenticatorKit
import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

extension Command {
  /// What an entry keeps, for whoever asked for it, and whether its password has expired, which is told.
  ///
  /// - Parameters:
  ///   - version: That of a former version; `nil` for the present one.
  ///   - keeping: Whether the verification of a person is kept for the change that follows.
  func entry(
    of item: Item, version: UInt64? = nil, keeping: Bool = false
  ) throws -> (content: EntryContent, hasExpired: Bool) {
    let content: EntryContent
    do {
      content = try vault.unlocking { core in
        let context = try vault.context(for: item.access, isBehindPIN: item.isBehindPIN, keeping: keeping)
        guard let version else { return try core.entry(of: item.id, context: context) }
        return try core.entry(of: item.id, version: version, context: context)
      }
    } catch let error as VaultError where error.code == .expired {
      throw item.expiredError
    }
    return (content, try warnIfExpired(item))
  }

  /// What an entry keeps, where nobody has to be asked for it; `nil` elsewhere.
  func entryWithoutAsking(of item: Item) throws -> EntryContent? {
    guard item.isEntry, !item.isConstrained else { return nil }
    return try? vault.opened().entry(of: item.id)
  }

  /// The tags that `--tag` gives.
  func tags() throws(CommandError) -> [String] {
    var tags: [String] = []
    for (index, tag) in self[EntryOptions.tag].enumerated() {
      tags.append(try Tags.checked(tag, named: EntryOptions.tag.place(index)))
    }
    return tags
  }

  /// The one-time-password credential that belongs to an entry; `nil` without one.
  func code(of item: Item) -> Item? {
    (try? vault.opened())?.code(of: item)
  }

  /// Asks once, on a terminal, before what nobody can undo. A script is not asked.
  ///
  /// - Parameters:
  ///   - operation: What is about to happen, in words that follow "vaultctl VERB:".
  ///   - nothing: What did not happen after a no.
  /// - Throws: Exit 5 without a yes.
  func requireYes(to operation: String, else nothing: String) throws(CommandError) {
    guard isOnTerminal, invocation.mayPrompt, !isJSON, !self[ItemOptions.yes] else { return }
    guard confirm(operation) else {
      throw CommandError(.cancelled, nothing, hint: "with --yes, nothing is asked", promptEnd: .cancelled)
    }
  }
}

extension VaultCore {
  fileprivate func code(of item: Item) -> Item? { (try? owned(by: item)) ?? nil }

  /// Changes an item and, if `edit` is given, what it keeps, in one commit.
  ///
  /// - Parameters:
  ///   - version: The version of the item that the changes were made for; `nil` for any.
  ///   - prepare: Completes the changes, by the item as it is.
  ///   - password: Takes the place of the password.
  /// - Throws: ``VaultError/Code/busy`` if the item has another version; what `edit` throws.
  func change(
    _ id: ItemID, at version: UInt64? = nil, _ changes: ItemChanges, context: AuthenticationContext?,
    preparing prepare: (Item, inout ItemChanges) -> Void = { _, _ in },
    password: SharedSecret? = nil, entry edit: ((inout EntryContent) throws(VaultError) -> Void)?
  ) throws(VaultError) -> Item {
    let use = Use.update(id, changes, replacesSecret: edit != nil || password != nil, by: nil)
    var transaction = try beginWriting(use, context: context)
    let item = try transaction.item(id)
    guard version == nil || version == item.version else { throw VaultCore.changedMeanwhile }
    var changes = changes
    prepare(item, &changes)
    let result: Item
    if let edit {
      result = try transaction.update(id, changes) { (entry) throws(VaultError) in
        try edit(&entry)
        if let password { entry.setPassword(password.copy()) }
      }
    } else {
      result = try transaction.update(id, changes, secret: password?.copy())
    }
    try transaction.commit()
    return result
  }
}
