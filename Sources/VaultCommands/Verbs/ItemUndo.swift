import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl undo NAME [VERSION]`.
enum ItemUndo: VaultVerb {
  static let words = ["undo"]
  static let summary = "Undo the last change of an entry, go back to a version, or put a deleted item back."
  static let version = Argument(
    "VERSION", .number(1...UInt64(Int64.max)),
    "The version that becomes the present one, as 'history' lists it; the newest without it.",
    isRequired: false)
  static let arguments = [ItemOptions.name, version]
  static let target = Target.identifier
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused]
  static let notes = [
    "Makes a former version the present one. The present content becomes a former version, so nothing is lost: a second time, this undoes "
      + "the undoing. Attributes, such as the account, stay as they are.",
    "Where no item has the name, but one in the trash had it, the one that was deleted last comes back, and a message says so.",
    "A message names what is different now.",
    "With --json: what 'show' has, and changed, or putBack for an item of the trash.",
  ]
  static let examples = [
    "vaultctl undo mail",
    "vaultctl undo mail 1",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let number = command[version].flatMap(UInt64.init)
    let item: Item
    do { item = try command.target() } catch {
      guard CommandError(describing: error).exit == .notFound, number == nil,
        let name = command[ItemOptions.name], let trashed = try command.trashed(named: name).last
      else { throw error }
      return try command.putBack(trashed, named: nil)
    }
    if let number { return try command.restore(item, version: number) }
    guard let newest = try command.vault.opened().history(of: item.id).first else {
      throw CommandError(
        .notFound, "there is no former version of '\(printable(item.name ?? item.id.hexadecimal))'",
        hint: "a version is kept when the password, notes, fields or addresses of an entry are changed",
        code: "versionNotFound")
    }
    return try command.restore(item, version: newest.version)
  }
}

extension Command {
  fileprivate func restore(_ item: Item, version: UInt64) throws -> Outcome {
    let restored: (item: Item, changed: [String])
    do {
      restored = try vault.unlocking { core in
        let context = try vault.context(for: item.access, isBehindPIN: item.isBehindPIN, keeping: true)
        return try core.restore(item.id, version: version, context: context)
      }
    } catch let error as VaultError where error.code == .expired {
      throw item.expiredError
    }
    noteChanged(restored.changed)
    return Outcome(json: restored.item.json.adding("changed", restored.changed.json))
  }

  /// Says what is different now: the names of fields, and never what is in them.
  func noteChanged(_ names: [String]) {
    messages.note(names.isEmpty ? "nothing was changed" : "changed: \(names.joined(separator: ", "))")
  }
}
