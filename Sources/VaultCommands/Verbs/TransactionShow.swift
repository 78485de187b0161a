import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction show [ID]`.
enum TransactionShow: VaultVerb {
  static let words = ["transaction", "show"]
  static let summary = "Show a transaction with its whole text."
  static let arguments = [TransactionOptions.optionalID]
  static let ownOptions: [any OptionKey] = [
    TransactionOptions.push, TransactionOptions.credential, TransportOptions.program,
  ]
  static let standardInput = StandardInput.file("push message, with --push")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .blocked, .expired, .refused, .network, .outOfStep]
  static let notes = [
    "With --push and --transport, the transaction that the push message names is asked for: standard input has a JSON object "
      + "with alias, and if known action, serviceid, serviceName, deviceAlias, time_to_live (seconds). Nothing of it is "
      + "believed: the server says what is shown. Without --credential, the credentials of the service serviceid ask, or all.",
    "types is what the transaction offers, choices what of it this device has. A text that must not be shown, because a character of it "
      + "would not show as itself or because it has more than 4,096 bytes, is not printed: whyNotShown says why, and the transaction can be "
      + "rejected, and not accepted.",
  ]
  static let examples = [
    "vaultctl transaction show pay-1 --json",
    "vaultctl transaction show pay-1",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let details =
      command[TransactionOptions.push] ? try pushed(command) : try stored(command)
    let name = try command.name(of: details.transaction.credential)
    return Outcome(json: details.json(of: name), lines: details.lines(of: name))
  }

  private static func stored(_ command: Command) throws -> TransactionDetails {
    guard command[TransactionOptions.optionalID] != nil else {
      throw CommandError.usage("ID is missing", hint: "give the alias of a transaction, or --push")
    }
    for option in [TransactionOptions.credential, TransportOptions.program] as [any OptionKey]
    where command.has(option) { throw CommandError.usage("\(option.shown) needs --push") }
    return try command.details(of: command.transaction().id)
  }

  private static func pushed(_ command: Command) throws -> TransactionDetails {
    guard command[TransactionOptions.optionalID] == nil else {
      throw CommandError.usage("ID and --push contradict each other")
    }
    let transport = try command.neededTransport()
    let push = try PushPayload(json: command.secrets.file("push message"))
    let all = try command.credentialsToAsk(over: transport)
    let ofService = all.filter { push.service != nil && $0.attributes[.service] == push.service }
    let answers = try command.receive(
      push, for: ofService.isEmpty ? all : ofService, over: transport)
    if let found = answers.found { return found }
    if let failure = answers.failure { throw failure }
    throw CommandError(
      .notFound, "no server has this transaction", hint: "it may have been answered, or its time may be over")
  }
}
