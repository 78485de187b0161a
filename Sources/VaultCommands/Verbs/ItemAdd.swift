import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl add NAME`.
enum ItemAdd: VaultVerb {
  static let words = ["add"]
  static let summary = "Store a password, notes and fields under a name."
  static let arguments = [ItemOptions.newName]
  static let accessible = ItemOptions.accessible("When the secret can be read.")
  static let noPassword = Flag(
    "no-password", "Store an entry without a password. Standard input is not read.")
  static let ownOptions: [any OptionKey] =
    ItemOptions.attributes + [EntryOptions.tag] + EntryOptions.sealed + [
      noPassword, accessible, ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
      ExpiryOptions.expires,
      ExpiryOptions.rule, ItemOptions.generate, ItemOptions.copy,
    ]
  static let channels = [SecretChannel.applicationPassword]
  static let standardInput = StandardInput.data("password")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused]
  static let notes = [
    EntryOptions.publicNote, EntryOptions.limitsNote,
    "--access passcode asks for the passcode at each use, presence for the passcode, a member or the login password, biometry-any and "
      + "biometry-current-set for a member's phrase or finger ('vaultctl biometry enroll'), application-password for a password of "
      + "the item's own. Two of them need 'and', or 'or' where one is enough. 'show' says what enforces each.",
    "On a terminal it asks for the user, the address and the password, as far as no option gives them; where the answer for the password is "
      + "empty, it generates 24 characters.",
    "A generated secret is printed by 'get', not by 'add', which says how many bits it has; --copy copies the password once it is stored. "
      + "Items with different names can have the same service and account.",
    "A newline at the end of the data is a part of the secret. When the secret is one line with a newline, a message says so; "
      + "'printf %s' writes none.",
    "'vaultctl otp add NAME' gives the entry a one-time code.",
    "after-first-unlock items open with the device key alone, also while the vault is locked.",
    ItemOptions.copyNote, ExpiryOptions.note,
  ]
  static let examples = [
    "vaultctl add mail --account me@example.org -g",
    "printf %s 'correct horse' | vaultctl add shop --url https://shop.example --tag shops",
  ]

  static func run(_ command: Command) throws -> Outcome {
    for option: any OptionKey in [ItemOptions.generate, ItemOptions.copy]
    where command[noPassword] && command.isGiven(option) {
      throw CommandError.usage("--no-password and \(option.shown) contradict each other")
    }
    return try add(command, named: command.required(ItemOptions.newName), command[ItemOptions.generate])
  }

  /// Adds an entry as the options say it, for this verb and for others that have these options.
  ///
  /// - Parameter generator: What makes the password; `nil` if it is given, or if there is none.
  static func add(
    _ command: Command, named name: String, _ generator: Generator?
  ) throws -> Outcome {
    // Where there is no vault, nothing is asked for and read.
    _ = try command.vault.opened()
    let access = try command.newAccess(accessible: command[accessible])
    var attributes = try command.attributes(defaultAccount: name)
    attributes[.tags] = Tags.attribute(try command.tags())
    let isGiven = !command[noPassword] && generator == nil
    var edits = try EntryEdits(command, readsInput: isGiven)
    if command.secrets.asksForData { try command.refuseTaken(name) }
    if isGiven { try command.vault.unlockBeforeTyping(access) }
    var (secret, generator) = (SharedSecret?.none, generator)
    if isGiven, command.isTyped {
      (secret, generator) = try command.typedEntry(name, &attributes, &edits)
    } else if !command[noPassword] {
      secret =
        try generator.map { SharedSecret(try $0.secret(from: command.world.random)) }
        ?? command.newSecret(by: nil)
    }
    let context = try command.vault.context(for: access)
    let item = try command.vault.unlocking { core in
      var new = NewItem(.genericPassword, name: name, attributes: attributes)
      new.access = access
      new.audit = command[ItemOptions.audit] ?? .changes
      new.expires = try command.expiry(in: core) ?? nil
      new.expiry = command[ExpiryOptions.rule] ?? .warn
      var entry = EntryContent(password: secret?.copy())
      try edits.apply(to: &entry)
      return try core.add(new, entry: entry, context: context)
    }
    if let generator { command.noteEntropy(of: generator) }
    command.noteExpiry(of: item)
    let json = item.json.adding(entropyOf: generator)
    guard command.has(ItemOptions.copy), let secret, case .object(let fields) = json else {
      return Outcome(json: json)
    }
    return try command.copy(secret, fields: fields)
  }
}

extension Command {
  /// Asks a person at a terminal for the user, the address and the password of a new entry, as far as no option gives them.
  ///
  /// - Returns: The password, and what generated it where the answer was empty.
  fileprivate func typedEntry(
    _ name: String, _ attributes: inout Attributes, _ edits: inout EntryEdits
  ) throws -> (secret: SharedSecret, generator: Generator?) {
    let purpose = "store an entry"
    var isFirst = true
    if !has(ItemOptions.account) {
      let user = try secrets.shownLine(
        "user", asking: "user (empty: \(name))", to: purpose, isFirst: isFirst)
      if let user {
        try Names.checkText(user, named: "the user")
        try Names.checkShown(user, named: "the user")
        attributes[.account] = user
      }
      isFirst = false
    }
    if edits.addresses.isEmpty {
      let address = try secrets.shownLine(
        "address", asking: "address (empty: none)", to: purpose, isFirst: isFirst)
      if let address { try edits.add(typedAddress: address) }
      isFirst = false
    }
    let typed = try secrets.typedData(
      "password", asking: "password (empty: a new one is generated)", to: purpose, isFirst: isFirst)
    guard let typed else {
      let generator = Generator("24")!
      return (SharedSecret(try generator.secret(from: world.random)), generator)
    }
    return (SharedSecret(typed), nil)
  }

  /// The secret to store: a generated one, else that of standard input.
  func newSecret(by generator: Generator?) throws -> SharedSecret {
    if let generator { return try generatedSecret(by: generator) }
    let secret = try secrets.data("secret", to: "store a secret")
    guard secret.byteCount > 0 else {
      throw CommandError.malformed(
        "the secret is empty", hint: "give it on standard input, or use --generate")
    }
    if secret.isLineWithNewline {
      messages.warn(
        "the secret ends in a newline, which is stored with it; 'printf %s' writes none", mark: "")
    }
    return SharedSecret(secret)
  }

  /// A new secret, and a message that says how hard it is to guess.
  func generatedSecret(by generator: Generator) throws -> SharedSecret {
    let secret = SharedSecret(try generator.secret(from: world.random))
    noteEntropy(of: generator)
    return secret
  }

  fileprivate func noteEntropy(of generator: Generator) {
    let bits = generator.bitCount
    let what = generator.alphabet == .words ? "words" : "characters of \(generator.alphabet.rawValue)"
    messages.note("generated \(generator.length) \(what): \(bits) bits")
    if SecretStrength(bitCount: bits).isGuessable {
      messages.note(
        "that can be guessed; \(SecretStrength.enoughBits) bits and more cannot, like --generate 24 or 6:words"
      )
    }
  }

  /// The attributes of the options; empty ones are left out.
  ///
  /// - Throws: exit 12 where a service or an account would not show as what it is.
  func attributes(defaultAccount: String?) throws(CommandError) -> Attributes {
    for option in [ItemOptions.service, ItemOptions.account] {
      try Names.checkShown(self[option] ?? "", named: option.shown)
    }
    var attributes = Attributes()
    attributes[.service] = given(ItemOptions.service)
    attributes[.account] = given(ItemOptions.account) ?? defaultAccount
    attributes[.label] = given(ItemOptions.label)
    attributes[.comment] = given(ItemOptions.comment)
    return attributes
  }

  private func given(_ option: Setting<String>) -> String? {
    self[option].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension JSON {
  /// The same with the bits of a generated secret, if it was generated.
  func adding(entropyOf generator: Generator?) -> JSON {
    generator.map { adding("entropyBits", .integer(Int64($0.bitCount))) } ?? self
  }
}
