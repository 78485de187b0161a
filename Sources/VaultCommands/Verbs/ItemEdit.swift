import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl item edit NAME`.
enum ItemEdit: VaultVerb {
  static let words = ["item", "edit"]
  static let summary = "Change the attributes of an item, not its secret."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let audit = Setting(
    "audit", .auditPolicy, "", "What is audited from now on: changes, or reads too.")
  static let ownOptions: [any OptionKey] =
    ItemOptions.attributes
    + [ExpiryOptions.expires, ExpiryOptions.never, ExpiryOptions.rule, audit]
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels
  static let passcodeCase: String? =
    "where one is set, for anything but --label and --comment, and the item is not of --accessible after-first-unlock"
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused]
  static let notes = [
    "--accessible, --this-device-only and --access cannot be changed, because the secret is sealed for them. "
      + storeAgain,
    ExpiryOptions.note,
  ]
  static let example = "vaultctl item edit mail --label 'Mail of the family'"
  static let absentOptions = ["accessible": storeAgain, "this-device-only": storeAgain, "access": storeAgain]
  private static let storeAgain =
    "To change them, store the secret again: 'vaultctl item get NAME | vaultctl item add NEW --accessible CLASS', then remove NAME and "
    + "rename NEW."

  static func needsPerson(_ invocation: Invocation) -> Bool {
    let loosening: [any OptionKey] = [
      ExpiryOptions.expires, ExpiryOptions.never, ExpiryOptions.rule, audit,
    ]
    return loosening.contains { invocation.has($0) }
  }

  static func run(_ command: Command) throws -> Outcome {
    let attributes: [(Setting<String>, Attribute<String>)] = [
      (ItemOptions.service, .service), (ItemOptions.account, .account), (ItemOptions.label, .label),
      (ItemOptions.comment, .comment),
    ]
    guard ownOptions.contains(where: command.has) else {
      throw CommandError.usage(
        "nothing to change",
        hint: "give --label, --comment, --service, --account, --expires, --no-expiry, --expiry or --audit")
    }
    var changes = ItemChanges()
    for (option, attribute) in attributes {
      guard let value = command[option] else { continue }
      if attribute.code == Attribute.service.code || attribute.code == Attribute.account.code {
        try Names.checkShown(value, named: option.shown)
      }
      if value.isEmpty {
        changes.removed.append(attribute.code)
      } else {
        changes.attributes[attribute] = value
      }
    }
    if let policy = command[audit] { changes.audit = policy }
    changes.expiry = command[ExpiryOptions.rule]
    let item = try command.vault.unlocking { core in
      changes.expires = try command.expiry(in: core)
      let target = try command.target()
      return try core.update(target.id, changes, context: command.vault.context(for: target))
    }
    command.noteExpiry(of: item)
    return Outcome(json: item.json)
  }
}
