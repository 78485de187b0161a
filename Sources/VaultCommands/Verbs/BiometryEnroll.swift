import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl biometry enroll [MEMBER]`: a phrase, the reader's fingers, or the login password; behind the passcode.
enum BiometryEnroll: VaultVerb {
  /// Where a member comes from.
  enum Source: String {
    case phrase
    case fingerprint
    case login
  }

  static let words = ["biometry", "enroll"]
  static let summary =
    "Enroll a phrase, the fingers of the reader, or the login password."
  static let member = Argument("MEMBER", .name, "The name of a member.", isRequired: false)
  static let arguments = [member]
  static let source = Setting(
    "source", .choice(["phrase": Source.phrase, "fingerprint": .fingerprint, "login": .login]), "",
    "phrase: typed, and a key. fingerprint: the fingers that fprintd knows, and no others. login: what PAM asks for, as "
      + "presence alone. The latter two are advisory in this process, and take no MEMBER.",
    defaultValue: "phrase")
  static let ownOptions: [any OptionKey] = [source]
  static let channels: [SecretChannel] = [.passcode, .recovery, .phrase]
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "The command needs the passcode. A phrase or a finger changes the set: items stored with --access biometry-current-set before "
      + "can no longer be opened, and are named. Five wrong phrases lock biometry until the right passcode is given."
  ]
  static let examples = [
    "vaultctl biometry enroll voice --passcode-file old --phrase-file phrase",
    "vaultctl biometry enroll anna --passcode-file old --phrase-file phrase --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let source = command[source] ?? .phrase
    let name = command[member]
    guard (name != nil) == (source == .phrase) else {
      throw CommandError.usage(
        name == nil
          ? "MEMBER is missing" : "--source \(source.rawValue) names its members itself: leave MEMBER out")
    }
    if let name { try VaultCore.check(newMember: name) }
    let core = try command.vault.opened()
    guard core.hasPasscode else {
      throw CommandError(
        .refused, "members are enrolled behind a passcode, and none is set",
        hint: "run 'vaultctl passcode set' first")
    }
    try command.vault.requireNoDelay(core)
    if try command.changesSet(by: source, core) { try command.noteItemsOfSet(core) }
    guard let name else { return try command.enrollMembers(of: source, in: core) }
    let passcode = try command.vault.checkedPasscode(of: core, to: "enroll a phrase")
    let typed = try command.vault.secret(.newPhrase, of: .phrase, for: core) { secrets throws(CommandError) in
      try secrets.secret(.phrase, isNew: true)
    }
    let phrase = try BiometricPhrase(typed.box.copy(), shown: typed.shown)
    return Outcome(json: try core.enroll(phrase, named: name, with: passcode.checked).json)
  }
}

extension Command {
  /// Fingers and the login password: no key comes of them, which is said.
  fileprivate func enrollMembers(of source: BiometryEnroll.Source, in core: VaultCore) throws -> Outcome {
    if source == .login, let obstacle = try world.localHost().pam.obstacle() { throw obstacle }
    let passcode = try vault.checkedPasscode(
      of: core, to: "enroll the \(source == .login ? "login password" : "fingers")")
    let enrolled =
      source == .login
      ? [try core.enrollLogin(with: passcode.checked)]
      : try core.enrollFingers(of: world.host.biometry, with: passcode.checked)
    messages.note("this member is advisory: whoever has vault and device key opens without it")
    return Outcome(
      json: .object {
        Field("items", .array(enrolled.map(\.json)))
      })
  }

  /// Whether an enrolment makes another set: not for the login password, nor where the reader has the fingers of the set.
  fileprivate func changesSet(by source: BiometryEnroll.Source, _ core: VaultCore) throws -> Bool {
    switch source {
    case .login: return false
    case .fingerprint:
      let known = try core.enrolledMembers().filter { $0.source == .finger }.map(\.name)
      return try Set(world.host.biometry.enrolledFingers()) != Set(known)
    case .phrase: return true
    }
  }

  /// Says, before the set changes, which items die with it.
  fileprivate func noteItemsOfSet(_ core: VaultCore) throws {
    note(
      try core.itemsBehindCurrentSet(),
      what: "will be opened by nobody any more: they were stored for the set as it is")
  }

  /// Says what happens to items, with the names of the first ones.
  func note(_ items: [Item], what: String) {
    guard !items.isEmpty else { return }
    let names = items.prefix(5).map { printable($0.name ?? $0.id.hexadecimal) }.joined(separator: ", ")
    let rest = items.count > 5 ? " and \(items.count - 5) more" : ""
    messages.note("\(items.count) item\(items.count == 1 ? "" : "s") \(what): \(names)\(rest)")
  }
}
