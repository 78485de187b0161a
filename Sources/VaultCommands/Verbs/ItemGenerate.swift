import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl gen [NAME] [LENGTH]`.
enum ItemGenerate: VaultVerb {
  static let words = ["gen"]
  static let summary = "Print a generated password, or add an entry with one."
  static let name = Argument(
    "NAME", .newName, "The name of a new entry that has the password. Without it the password is printed.",
    isRequired: false)
  static let length = Argument(
    "LENGTH", .generator,
    "LENGTH[:alnum|all|words|hex]: so many characters, or words from a list of 2,048; 24 if not given.",
    isRequired: false)
  static let arguments = [name, length]
  /// What an entry has, as `add` takes it.
  private static let ofEntry: [any OptionKey] =
    ItemOptions.attributes + [EntryOptions.tag] + EntryOptions.sealed + [
      ItemAdd.accessible, ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
      ExpiryOptions.expires, ExpiryOptions.rule,
    ]
  static let ownOptions: [any OptionKey] = ofEntry + [ItemOptions.copy]
  static let channels = [SecretChannel.applicationPassword]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused]
  static let notes = [
    "One argument that is a length, such as 24 or 6:words, is LENGTH. With NAME it adds an entry as 'add NAME --generate' does, and "
      + "prints no password; NAME is needed for all options but --copy.",
    "Without NAME no vault is used, and nothing is stored. On a terminal a newline follows the password, anywhere else nothing does. A message "
      + "says how many bits it has.",
    "With --json: secret and entropyBits; with NAME what 'show' has, and entropyBits.",
    ItemOptions.copyNote,
  ]
  static let examples = [
    "vaultctl gen 6:words",
    "vaultctl gen shop 20",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let (name, generator) = meant(command)
    guard let name else { return try print(generator, command) }
    return try ItemAdd.add(command, named: name, generator)
  }

  /// One argument alone can be either.
  private static func meant(_ command: Command) -> (name: String?, Generator) {
    let standard = Generator("24")!
    guard let first = command[name] else { return (nil, standard) }
    if let second = command[length] { return (first, Generator(second) ?? standard) }
    return Generator(first).map { (nil, $0) } ?? (first, standard)
  }

  private static func print(_ generator: Generator, _ command: Command) throws -> Outcome {
    if let option = ofEntry.first(where: command.isGiven) {
      throw CommandError.usage(
        "\(option.shown) is for a new entry", hint: "give its name: vaultctl gen NAME \(option.shown) …")
    }
    let secret = try command.generatedSecret(by: generator)
    if command.has(ItemOptions.copy) { return try command.copy(secret, fields: []) }
    return Outcome(
      json: .object { Field("secret", JSON.secretText(secret)) }.adding(entropyOf: generator),
      pieces: [.secret(secret), .newlineOnTerminal])
  }
}

extension Command {
  /// Whether an option is given, once or several times.
  func isGiven(_ option: any OptionKey) -> Bool {
    has(option) || invocation.lists[option.name] != nil
  }
}
