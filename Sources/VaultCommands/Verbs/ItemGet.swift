import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl get NAME`.
enum ItemGet: VaultVerb {
  static let words = ["get"]
  static let summary = "Print the password of an item, or another part of it, byte for byte."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let field = Setting(
    "field", .entryPart, "FIELD",
    "Print this instead: notes, url, urls, name, service, account, label, comment, tags, host, id, or a field of your own.",
    defaultValue: "password")
  static let version = Setting(
    "version", .number(1...UInt64(Int64.max)), "N",
    "Of the former version N, as 'history' numbers them.")
  static let ownOptions: [any OptionKey] = [field, version, ItemOptions.copy]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "On a terminal a newline follows what is printed, anywhere else nothing does. --field field:NAME is the field NAME in any case, "
      + "also where it is called like another part; url is the first address, urls are all of them, a line each.",
    "With --json: name, id, account, service and urls, and the password as secretBase64, and as secret where it is UTF-8 text; "
      + "of a password that has expired also expires (Unix seconds), expired and a warning. With --field the part is the member of that "
      + "name, and of a field of your own field (its name) and value. With --version also version.",
    ItemOptions.copyNote,
  ]
  static let example = "vaultctl get mail"

  static func run(_ command: Command) throws -> Outcome {
    let part = command[field] ?? .password
    if case .open(let part) = part { return try printing(part, command: command) }
    let item = try command.target()
    let given = try command.given(part, of: item, version: command[version])
    if command.has(ItemOptions.copy) { return try command.copy(given.secret, fields: given.fields) }
    return Outcome(
      json: .object(given.fields).adding { given.members },
      pieces: [.secret(given.secret), .newlineOnTerminal])
  }

  /// A part that needs no unlocked vault.
  private static func printing(_ part: EntryPart.OpenPart, command: Command) throws -> Outcome {
    let item = try command.target()
    for option in [ItemOptions.copy, version] as [any OptionKey] where command.has(option) {
      throw CommandError.usage("\(option.shown) is for what is sealed, not for --field \(part.rawValue)")
    }
    guard let value = item.text(of: part) else {
      throw CommandError(.notFound, "the item has no \(part.rawValue)", code: "fieldNotFound")
    }
    return Outcome(
      json: .object {
        Field("id", item.id.hexadecimal)
        if part == .tags { Field("tags", item.tags) } else if part != .id { Field(part.rawValue, value) }
      },
      pieces: [.text(value), .newlineOnTerminal])
  }
}

/// A part of an item, and what a result says beside it.
private struct GivenPart {
  let secret: SharedSecret
  /// What the result says of the item.
  var fields: [Field]
  /// The part itself.
  let members: [Field]
}

extension Command {
  /// The secret of an item, for whoever asked for it, and whether it has expired, which is told.
  func secret(of item: Item) throws -> (secret: SharedSecret, hasExpired: Bool) {
    let secret: SharedSecret
    do {
      secret = SharedSecret(
        try vault.unlocking { try $0.secret(of: item.id, context: vault.context(for: item)) })
    } catch let error as VaultError where error.code == .expired {
      throw item.expiredError
    }
    return (secret, try warnIfExpired(item))
  }

  fileprivate func given(_ part: EntryPart, of item: Item, version: UInt64?) throws -> GivenPart {
    if part == .password, version == nil, !item.isEntry {
      let (secret, hasExpired) = try secret(of: item)
      return GivenPart(
        secret: secret, fields: shownFields(item, hasExpired: hasExpired), members: passwordFields(secret))
    }
    let (content, hasExpired) = try entry(of: item, version: version)
    let secret = try content.secret(of: part)
    var fields = shownFields(item, hasExpired: hasExpired)
    if let version { fields.append(Field("version", version)) }
    let addresses = content.sharedAddresses.map { JSON.text($0) }
    let urls = addresses.isEmpty ? [] : [Field("urls", JSON.array(addresses))]
    let members: [Field] =
      switch part {
      case .password: urls + passwordFields(secret)
      case .notes: [Field("notes", JSON.text(secret))]
      case .address: [Field("url", JSON.text(secret))]
      case .addresses: urls
      case .field(let name): [Field("field", name), Field("value", JSON.text(secret))]
      case .open: []
      }
    return GivenPart(secret: secret, fields: fields, members: members)
  }
}

/// What a result says of the item besides what was asked for.
private func shownFields(_ item: Item, hasExpired: Bool) -> [Field] {
  let texts = [
    Field("name", item.name), Field("id", item.id.hexadecimal),
    Field("account", item.attributes[.account]), Field("service", item.attributes[.service]),
  ]
  let expiry = hasExpired ? [Field("expires", item.expires?.seconds), Field("expired", true)] : []
  return (texts + expiry).compactMap(\.self)
}

private func passwordFields(_ secret: SharedSecret) -> [Field] {
  let isText = secret.expose { UTF8Text.isValid($0) }
  return [Field("secretBase64", JSON.secretBase64(secret))]
    + (isText ? [Field("secret", JSON.secretText(secret))] : [])
}
