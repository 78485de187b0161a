import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts

/// `vaultctl biometry enroll [MEMBER]`: a phrase, the reader's fingers, or the login password; behind the passcode.
func runBiometryEnroll(_ command: Command) throws -> Outcome {
  let source = command.invocation.text("source") ?? "phrase"
  let name = command.invocation.argument("MEMBER")
  guard (name != nil) == (source == "phrase") else {
    throw CommandError.usage(
      name == nil ? "MEMBER is missing" : "--source \(source) names its members itself: leave MEMBER out")
  }
  if let name { try VaultCore.check(newMember: name) }
  let core = try command.vault.opened()
  guard core.hasPasscode else {
    throw CommandError(
      .refused, "members are enrolled behind a passcode, and none is set",
      hint: "run 'vaultctl passcode set' first")
  }
  try command.vault.requireNoDelay(core)
  if try command.changesSet(source, core) { try command.noteItemsOfSet(core) }
  guard let name else { return try command.enrollMembers(of: source, core) }
  let checked = try command.vault.judging(core, to: "enroll a phrase") {
    try core.checked($0.passcode())
  }
  let typed = try command.vault.secret(.newPhrase, of: .phrase, for: core) { secrets throws(CommandError) in
    try secrets.secret(.phrase, isNew: true)
  }
  let phrase = try BiometricPhrase(typed.box.copy(), shown: typed.shown)
  return Outcome(json: try core.enroll(phrase, named: name, with: checked).json)
}

/// `vaultctl biometry list`.
func runBiometryList(_ command: Command) throws -> Outcome {
  let members = try command.vault.opened().enrolledMembers()
  return Outcome(
    json: .object([("items", .array(members.map(\.json)))]),
    lines: columns(
      members.map { [$0.name, $0.sourceWord, Instants.text(seconds: $0.enrolled.seconds)] }))
}

/// `vaultctl biometry remove MEMBER`: asks nobody, works while the vault is locked.
func runBiometryRemove(_ command: Command) throws -> Outcome {
  guard let name = command.invocation.argument("MEMBER") else {
    throw CommandError.usage("MEMBER is missing")
  }
  let core = try command.vault.opened()
  let isLogin = try core.enrolledMembers().contains { $0.name == name && $0.source == .login }
  let lost = isLogin ? [] : try core.itemsBehindCurrentSet()
  try core.removeMember(named: name)
  command.note(lost, "can be opened by nobody any more: they were stored for the set as it was")
  return Outcome(json: .object([("name", .string(name)), ("beyondReach", .integer(Int64(lost.count)))]))
}

extension Command {
  /// Fingers and the login password: no key comes of them, which is said.
  fileprivate func enrollMembers(of source: String, _ core: VaultCore) throws -> Outcome {
    if source == "login", let obstacle = world.presence.obstacle() { throw obstacle }
    let enrolled = try vault.judging(
      core, to: "enroll the \(source == "login" ? "login password" : "fingers")"
    ) {
      let passcode = try $0.passcode()
      return source == "login"
        ? [try core.enrollLogin(passcode: passcode)]
        : try core.enrollFingers(of: world.biometry, passcode: passcode)
    }
    messages.note("this member is advisory: whoever has vault and device key opens without it")
    return Outcome(json: .object([("items", .array(enrolled.map(\.json)))]))
  }

  /// Whether an enrolment makes another set: not for the login password, nor where the reader has the fingers of the set.
  fileprivate func changesSet(_ source: String, _ core: VaultCore) throws -> Bool {
    switch source {
    case "login": return false
    case "fingerprint":
      let known = try core.enrolledMembers().filter { $0.source == .finger }.map(\.name)
      return try Set(world.biometry.enrolledFingers()) != Set(known)
    default: return true
    }
  }

  /// Says, before the set changes, which items die with it.
  fileprivate func noteItemsOfSet(_ core: VaultCore) throws {
    note(
      try core.itemsBehindCurrentSet(),
      "will be opened by nobody any more: they were stored for the set as it is")
  }

  fileprivate func note(_ items: [Item], _ what: String) {
    guard !items.isEmpty else { return }
    let names = items.prefix(5).map { printable($0.name ?? $0.id.hexadecimal) }.joined(separator: ", ")
    let rest = items.count > 5 ? " and \(items.count - 5) more" : ""
    messages.note("\(items.count) item\(items.count == 1 ? "" : "s") \(what): \(names)\(rest)")
  }
}

extension EnrolledMember {
  fileprivate var json: JSON {
    .object([
      ("name", .string(name)), ("source", .string(sourceWord)), ("enrolled", .integer(enrolled.seconds)),
    ])
  }
}

extension EnrolledMember {
  fileprivate var sourceWord: String {
    switch source {
    case .phrase: "phrase"
    case .finger: "fingerprint"
    case .login: "login"
    }
  }
}
