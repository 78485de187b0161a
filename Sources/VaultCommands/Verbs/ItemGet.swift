import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl item get NAME`.
enum ItemGet: VaultVerb {
  /// What is printed of an item.
  enum Part: String {
    case secret
    case name
    case service
    case account
    case label
    case comment
    case id
  }

  static let words = ["item", "get"]
  static let summary = "Print the secret of an item, byte for byte."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let field = Setting(
    "field",
    .choice([
      "secret": Part.secret, "name": .name, "service": .service, "account": .account, "label": .label,
      "comment": .comment, "id": .id,
    ]), "", "Print this field instead.", defaultValue: "secret")
  static let ownOptions: [any OptionKey] = [field, ItemOptions.copy]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "On a terminal a newline follows the secret, anywhere else nothing does. With --json the secret is "
      + "secretBase64, and also secret where it is UTF-8 text; of a password that has expired also expires (Unix seconds), expired and a "
      + "warning.",
    ItemOptions.copyNote,
  ]
  static let example = "vaultctl item get mail"

  static func run(_ command: Command) throws -> Outcome {
    let part = command[field] ?? .secret
    guard part == .secret else { return try printing(part, command: command) }
    let item = try command.target()
    let (secret, hasExpired) = try command.secret(of: item)
    let fields = shownFields(item, hasExpired: hasExpired)
    if command.has(ItemOptions.copy) { return try command.copy(secret, fields: fields) }
    return Outcome(json: secretJSON(fields, secret: secret), pieces: [.secret(secret), .newlineOnTerminal])
  }
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
}

/// What a result says of the item besides its secret.
private func shownFields(_ item: Item, hasExpired: Bool) -> [Field] {
  let expiry = hasExpired ? [Field("expires", item.expires?.seconds), Field("expired", true)] : []
  return ([Field("name", item.name), Field("id", item.id.hexadecimal)] + expiry).compactMap(\.self)
}

private func secretJSON(_ fields: [Field], secret: SharedSecret) -> JSON {
  .object {
    fields
    Field("secretBase64", .secretBase64(secret))
    if secret.expose({ UTF8Text.isValid($0) }) { Field("secret", .secretText(secret)) }
  }
}

/// A field that needs no unlocked vault.
private func printing(_ part: ItemGet.Part, command: Command) throws -> Outcome {
  let item = try command.target()
  guard !command.has(ItemOptions.copy) else {
    throw CommandError.usage("--copy is for the secret, not for --field \(part.rawValue)")
  }
  guard let value = item.text(of: part) else {
    throw CommandError(.notFound, "the item has no \(part.rawValue)", code: "fieldNotFound")
  }
  return Outcome(
    json: .object {
      Field("id", item.id.hexadecimal)
      if part != .id { Field(part.rawValue, value) }
    },
    pieces: [.text(value), .newlineOnTerminal])
}

extension Item {
  fileprivate func text(of part: ItemGet.Part) -> String? {
    switch part {
    case .secret: nil
    case .name: name
    case .service: attributes[.service]
    case .account: attributes[.account]
    case .label: attributes[.label]
    case .comment: attributes[.comment]
    case .id: id.hexadecimal
    }
  }
}
