import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl item update NAME`.
enum ItemUpdate: VaultVerb {
  static let words = ["item", "update"]
  static let summary = "Replace the password of an item, and keep all else."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [
    ExpiryOptions.expires, ExpiryOptions.never, ItemOptions.generate, ItemOptions.forget, ItemOptions.yes,
  ]
  static let channels = ItemOptions.accessChannels
  static let standardInput = StandardInput.data("secret")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "Notes, fields, addresses and the one-time code of an entry stay. The password before is kept as a former version: 'undo NAME' "
      + "brings it back. With --forget no former version stays, and a terminal is asked once.",
    "An expiry that has passed was that of the old secret, and is removed; --expires gives the new secret one. An expiry that has not "
      + "passed stays.",
    ExpiryOptions.note,
  ]
  static let example = "vaultctl item update mail --generate 32:all"

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    guard item.kind == .genericPassword || item.kind == .internetPassword else {
      throw CommandError(
        .refused, "the secret of an item of kind \(item.kind.word) is not exchanged here",
        hint: "delete the item and add it again")
    }
    if command[ItemOptions.forget] {
      try command.requireYes(
        to:
          "forget the former versions of '\(printable(item.name ?? item.id.hexadecimal))', and its present password",
        else: "nothing was changed")
    }
    let typed =
      command.has(ItemOptions.generate) ? nil : try command.vault.unlockBeforeTyping(item.access)
    let secret = try command.newSecret()
    let updated = try command.vault.unlocking { core in
      let hasExpired = try core.expiryMoment().hasExpired(item)
      var changes = ItemChanges(expires: try command.expiry(in: core) ?? (hasExpired ? .some(nil) : nil))
      changes.forgetsFormer = command[ItemOptions.forget]
      return try core.update(
        item.id, changes, secret: secret.copy(),
        context: command.vault.context(for: item.access, after: typed))
    }
    command.noteExpiry(of: updated)
    if let date = item.expiryDate, updated.expires == nil, !command[ExpiryOptions.never] {
      command.messages.note("the expiry of the old secret, \(date), is removed; --expires gives a new one")
    }
    return Outcome(json: command.withEntropy(updated.json))
  }
}
