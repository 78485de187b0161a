import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl item update NAME`.
enum ItemUpdate: VaultVerb {
  static let words = ["item", "update"]
  static let summary = "Replace an item's secret."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [
    ExpiryOptions.expires, ExpiryOptions.never, ItemOptions.generate,
  ]
  static let channels = ItemOptions.accessChannels
  static let standardInput = StandardInput.data("secret")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
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
    let typed =
      command.has(ItemOptions.generate) ? nil : try command.vault.unlockBeforeTyping(item.access)
    let secret = try command.newSecret()
    let updated = try command.vault.unlocking { core in
      let hasExpired = try core.expiryMoment().hasExpired(item)
      let changes = ItemChanges(expires: try command.expiry(in: core) ?? (hasExpired ? .some(nil) : nil))
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
