import AuthenticatorKit
import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl code NAME`.
enum OTPCode: VaultVerb {
  static let words = ["code"]
  static let summary = "Print the next code. A counter is on disk before its code is shown."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let takesPieceOfName = true
  static let at = Setting("at", .instant, "T", "The code of this moment; changes nothing stored. TOTP only.")
  static let next = Flag("next", "The code of the next period. TOTP only.")
  static let minRemaining = Setting(
    "min-remaining", .duration(0...86400), "TIME",
    "Wait for the next code when this one is valid for less than TIME. TOTP only.")
  static let ownOptions: [any OptionKey] =
    [at, next, minRemaining, ItemOptions.copy] + OnlineOptions.all
  static let channels = ItemOptions.accessChannels + [.pin]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .network, .outOfStep]
  static let notes = [
    OnlineOptions.note + " With a suite, the question is the server's.",
    "On a terminal the digits are in groups and the seconds follow for which the code is valid: 610 228  (12 s). Anywhere else the code is "
      + "alone on its line.",
    "A TOTP code changes nothing and is audited only for items made with --audit all.",
    "Behind a checked PIN, a wrong PIN is an error (3), and the last attempt blocks the PIN (4). Behind a camouflaged PIN, a "
      + "wrong PIN gives a wrong code, and only the server can tell.",
    "With --json: name, type (hotp, totp, steam), code and digits; of HOTP also counter, of the others validFrom and validTo (Unix "
      + "seconds) and remaining (seconds). With --online and a suite: name, type (ocra), suite, code, and where they apply counter, "
      + "validFrom and validTo. With --copy there is no code.",
    ItemOptions.copyNote,
  ]
  static let examples = [
    "vaultctl code rfc --json",
    "vaultctl code rfc",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try print(command.credential(), command)
  }

  /// Makes the next code of a credential, for this verb and for others that have some of its options.
  static func print(_ item: Item, _ command: Command) throws -> Outcome {
    if let transport = try command.onlineTransport(refusing: timed) {
      return try onlineCode(command, item: item, over: transport)
    }
    let result =
      item.countsCodes ? try counterCode(command, item: item) : try timedCode(command, item: item)
    return try outcome(
      result.code, result.json, result.notices, item: item, command, secondsLeft: result.secondsLeft)
  }

  static let timed: [any OptionKey] = [at, next, minRemaining]
}

private func outcome(
  _ code: String, _ json: JSON, _ notices: [OTPResult.Notice], item: Item, _ command: Command,
  secondsLeft: Int64? = nil
) throws -> Outcome {
  command.note(notices, item: item)
  var outcome =
    command.has(ItemOptions.copy)
    ? try command.copy(SharedSecret(SecretBytes(copying: Array(code.utf8))), fields: json.factsWithoutCode)
    : Outcome(json: json, lines: [command.shown(code, secondsLeft: secondsLeft)])
  outcome.failure = OnlineOptions.failure(notices)
  return outcome
}

private func onlineCode(_ command: Command, item: Item, over transport: any Transport) throws -> Outcome {
  let context = try command.unlockedContext(for: item)
  guard try command.hasSuite(item) else {
    let result = try command.vault.unlocking {
      try $0.onlineCode(of: item.id, over: transport, context: context)
    }
    return try outcome(result.code, result.json, result.notices, item: item, command)
  }
  let result = try command.vault.unlocking {
    try $0.onlineOCRACode(with: item.id, over: transport, context: context)
  }
  let json = TransactionSign.json(result, suite: try command.vault.opened().describeOCRA(of: item.id).suite)
  return try outcome(result.code, json, result.notices, item: item, command)
}

private func counterCode(_ command: Command, item: Item) throws -> OTPResult {
  for option in OTPCode.timed where command.has(option) {
    throw CommandError.usage("\(option.shown) is for codes that follow the time, this one follows a counter")
  }
  return try command.vault.unlocking {
    try $0.nextHOTPCode(of: item.id, context: command.vault.context(for: item))
  }
}

private func timedCode(_ command: Command, item: Item) throws -> OTPResult {
  let least = command[OTPCode.minRemaining] ?? 0
  guard least == 0 || !(command.has(OTPCode.at) || command[OTPCode.next]) else {
    throw CommandError.usage("--min-remaining stands without --at and --next")
  }
  guard least <= item.attributes[.otpPeriod] ?? 30 else {
    throw CommandError.usage("--min-remaining is longer than the period of the code")
  }
  return try command.vault.unlocking { core in
    if least > 0 { try wait(command, item: item, core: core, least: least) }
    return try core.timedCode(
      of: item.id, at: command[OTPCode.at], stepsAhead: command[OTPCode.next] ? 1 : 0,
      context: command.vault.context(for: item))
  }
}

/// Waits until a code is valid for long enough: more than once only where the clock is set back meanwhile.
private func wait(_ command: Command, item: Item, core: VaultCore, least: Int64) throws {
  let period = max(1, item.attributes[.otpPeriod] ?? 30)
  for _ in 0..<3 {
    let remaining = period - (try core.state(of: item.id)).time(core.environment.clock) % period
    guard remaining < least else { return }
    command.messages.note("waiting \(remaining) s for the next code")
    command.world.wait(UInt32(clamping: remaining))
  }
}

extension Command {
  /// A code as a person copies it from a terminal: digits in groups, and how long it is valid. Anywhere else the code alone.
  ///
  /// - Parameter seconds: `nil` for a code that no time ends, and for one of another moment.
  fileprivate func shown(_ code: String, secondsLeft seconds: Int64?) -> String {
    guard isatty(world.standardOutput) == 1 else { return code }
    let isOfNow = !has(OTPCode.at) && !self[OTPCode.next]
    return grouped(code) + (isOfNow ? seconds.map { "  (\($0) s)" } ?? "" : "")
  }

  /// Six digits as 610 228, seven as 610 2284, eight as 6102 2841; anything else as it is.
  private func grouped(_ code: String) -> String {
    guard 6...8 ~= code.utf8.count, code.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return code }
    let head = code.utf8.count == 8 ? 4 : 3
    return "\(code.prefix(head)) \(code.dropFirst(head))"
  }
}

extension JSON {
  /// What there is to say when the code itself went to the clipboard.
  fileprivate var factsWithoutCode: [Field] {
    guard case .object(let fields) = self else { return [] }
    return fields.filter { $0.name != "code" }
  }
}

extension OTPResult {
  /// How long it is valid; `nil` for the code of a counter.
  fileprivate var secondsLeft: Int64? {
    if case .time(_, _, let remaining, _) = factor { remaining } else { nil }
  }

  fileprivate var json: JSON {
    .object {
      Field("name", name)
      switch factor {
      case .counter(let counter):
        Field("type", "hotp")
        Field("code", code)
        Field("digits", digits)
        Field("counter", counter)
      case .time(let validFrom, let validTo, let remaining, let isSteam):
        Field("type", isSteam ? "steam" : "totp")
        Field("code", code)
        Field("digits", digits)
        Field("validFrom", validFrom)
        Field("validTo", validTo)
        Field("remaining", remaining)
      }
    }
  }
}
