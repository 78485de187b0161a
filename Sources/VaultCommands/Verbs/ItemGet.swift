import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl get NAME`.
enum ItemGet: VaultVerb {
  static let words = ["get"]
  static let summary = "Print the password of an item, or another part of it, byte for byte."
  static let part = Argument(
    "FIELD", .entryPart,
    "What is printed: password, notes, url, urls, account, code, name, service, label, comment, tags, host, id, or a field of your own.",
    isRequired: false)
  static let arguments = [ItemOptions.name, part]
  static let target = Target.full
  static let takesPieceOfName = true
  static let field = Setting(
    "field", .entryPart, "FIELD", "The same as the second argument.", defaultValue: "password")
  static let version = Setting(
    "version", .number(1...UInt64(Int64.max)), "N",
    "Of the former version N, as 'history' numbers them.")
  static let ownOptions: [any OptionKey] = [field, version, ItemOptions.copy]
  static let channels = ItemOptions.accessChannels + [.pin]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused, .outOfStep]
  static let notes = [
    "On a terminal a newline follows what is printed, anywhere else nothing does. field:NAME is the field NAME in any case, "
      + "also where it is called like another part; url is the first address, urls are all of them, a line each.",
    "Where the entry has no field of that name, user, username and login are the account, website and uri the url, note is notes, and otp "
      + "and totp are the code. The code is that of 'code': the counter of HOTP is on disk before its code is printed.",
    "With --json: name, id, account, service and urls, and the password as secretBase64, and as secret where it is UTF-8 text; "
      + "of a password that has expired also expires (Unix seconds), expired and a warning. With FIELD the part is the member of that "
      + "name, and of a field of your own field (its name) and value; of a code what 'code' prints. With --version also version.",
    ItemOptions.copyNote,
  ]
  static let examples = [
    "vaultctl get mail",
    "vaultctl get mail account",
  ]

  /// A code may move a counter.
  static func isReadOnly(_ invocation: Invocation) -> Bool {
    let typed = invocation[part].map { EntryPart($0) } ?? invocation[field]
    return switch typed {
    case .code, .synonym(_, .code): false
    default: changesNothing(invocation)
    }
  }

  static func run(_ command: Command) throws -> Outcome {
    let part = try typedPart(command)
    let item = try command.target()
    guard case .synonym(let word, let meant) = part else { return try print(part, of: item, command) }
    // A field of the entry's own comes first. Only an entry can have one.
    guard item.isEntry else { return try print(meant, of: item, command) }
    let opened = try command.entry(of: item, version: command[version])
    let isField = (try? opened.content.field(word)) != nil
    return try print(isField ? .field(word) : meant, of: item, command, opened: opened)
  }

  private static func typedPart(_ command: Command) throws(CommandError) -> EntryPart {
    try refuseTimes(command)
    guard let word = command[part] else { return command[field] ?? .password }
    guard !command.has(field) else {
      throw .usage("FIELD and --field are given, one of them is enough")
    }
    // One argument beside --id could be either.
    guard command[ItemOptions.name] != nil else {
      throw .usage(
        "NAME is given with an option in its place, one of them is enough",
        hint: "with that option, name the part by --field")
    }
    return EntryPart(word)
  }

  /// Refuses what was meant as the time of `--copy`, and is none: an argument could be taken for it.
  private static func refuseTimes(_ command: Command) throws(CommandError) {
    guard command.has(ItemOptions.copy) else { return }
    for word in [command[ItemOptions.name], command[part]].compactMap(\.self) {
      guard word.first?.isNumber == true, TimeSpan(word, alone: .seconds) != nil else { continue }
      _ = try ValueKind<Int64>.duration.read(word, ItemOptions.copy.shown)
    }
  }

  /// - Parameter opened: What the entry keeps, if it was opened before.
  private static func print(
    _ part: EntryPart, of item: Item, _ command: Command, opened: (EntryContent, hasExpired: Bool)? = nil
  ) throws -> Outcome {
    switch part {
    case .open(let part): return try print(part, of: item, command)
    case .code: return try printCode(of: item, command)
    default: break
    }
    let given = try command.given(part, of: item, version: command[version], opened: opened)
    if command.has(ItemOptions.copy) { return try command.copy(given.secret, fields: given.fields) }
    return Outcome(
      json: .object(given.fields).adding { given.members },
      pieces: [.secret(given.secret), .newlineOnTerminal])
  }

  /// A part that needs no unlocked vault.
  private static func print(
    _ part: EntryPart.OpenPart, of item: Item, _ command: Command
  ) throws -> Outcome {
    try refuseVersion(of: part.rawValue, command)
    guard let value = item.text(of: part) else {
      throw CommandError(.notFound, "the item has no \(part.rawValue)", code: "fieldNotFound")
    }
    let fields: [Field] = [Field("id", item.id.hexadecimal)]
    if command.has(ItemOptions.copy) {
      return try command.copy(SharedSecret(SecretBytes(copying: Array(value.utf8))), fields: fields)
    }
    return Outcome(
      json: .object(fields).adding {
        if part == .tags { Field("tags", item.tags) } else if part != .id { Field(part.rawValue, value) }
      },
      pieces: [.text(value), .newlineOnTerminal])
  }

  private static func printCode(of item: Item, _ command: Command) throws -> Outcome {
    try refuseVersion(of: "the one-time code", command)
    guard let credential = item.kind == .otp ? item : command.code(of: item) else {
      throw CommandError(
        .notFound, "the entry has no one-time code", hint: "'vaultctl otp add NAME' gives it one",
        code: "fieldNotFound")
    }
    return try OTPCode.print(credential, command)
  }

  private static func refuseVersion(of part: String, _ command: Command) throws(CommandError) {
    guard !command.has(version) else {
      throw .usage("--version is for what is sealed, not for \(part)")
    }
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

  fileprivate func given(
    _ part: EntryPart, of item: Item, version: UInt64?, opened: (EntryContent, hasExpired: Bool)?
  ) throws -> GivenPart {
    if part == .password, version == nil, !item.isEntry {
      let (secret, hasExpired) = try secret(of: item)
      return GivenPart(
        secret: secret, fields: shownFields(item, hasExpired: hasExpired), members: passwordFields(secret))
    }
    let (content, hasExpired) = try opened ?? entry(of: item, version: version)
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
      case .open, .code, .synonym: []
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

/// A password in JSON.
func passwordFields(_ secret: SharedSecret) -> [Field] {
  let isText = secret.expose { UTF8Text.isValid($0) }
  return [Field("secretBase64", JSON.secretBase64(secret))]
    + (isText ? [Field("secret", JSON.secretText(secret))] : [])
}
