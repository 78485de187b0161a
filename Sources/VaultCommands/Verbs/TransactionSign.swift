import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction sign NAME`: the data comes on standard input, or a challenge as an option.
enum TransactionSign: VaultVerb {
  static let words = ["transaction", "sign"]
  static let summary =
    "Print the code for a challenge or for data. A counter is on disk before its code is shown."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = QuestionOptions.all + [QuestionOptions.at] + OnlineOptions.all
  static let channels = ItemOptions.accessChannels + [.pin, .suitePIN]
  static let standardInput = StandardInput.data("data, unless --question is given")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .network, .outOfStep]
  static let notes =
    QuestionOptions.notes + [
      OnlineOptions.note,
      "A person who is asked before the code is made, by the flags of the item or for the PIN, sees the data or the challenge "
        + "first. Data "
        + "that would not show as what it is, like control characters, is refused then (9); with --no-input nobody is asked.",
      "A code without a counter changes nothing and is audited only for items made with --audit all. Nothing here can "
        + "tell whether the PIN is right.",
    ]
  static let examples = [
    "printf 'Pay 12 EUR to Anna' | vaultctl transaction sign bank",
    "printf 'Pay 12 EUR to Anna' | vaultctl transaction sign bank --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let signer = try command.signer()
    let transport = try command.onlineTransport(refusing: [QuestionOptions.at])
    try command.vault.unlockBeforeTyping(signer.item.access)
    let context =
      transport == nil
      ? try command.vault.context(for: signer.item) : try command.unlockedContext(for: signer.item)
    var (request, text) = try command.request(
      for: signer, to: "sign it", isGuarded: !signer.item.access.constraints.isEmpty)
    request.unixTime = command[QuestionOptions.at]
    let showing = text.flatMap { context?.showing($0) } ?? context
    let result = try command.vault.unlocking { core in
      guard let transport else {
        return try core.signOCRA(request, with: signer.item.id, context: showing)
      }
      return try core.onlineSeal(request, with: signer.item.id, over: transport, context: showing)
    }
    command.note(result.notices, item: signer.item)
    return Outcome(
      json: json(result, suite: signer.suite), lines: [result.code],
      failure: OnlineOptions.failure(result.notices))
  }

  static func json(_ result: OCRAResult, suite: OCRASuite) -> JSON {
    .object {
      Field("name", result.name)
      Field("type", "ocra")
      Field("suite", suite.description)
      Field("code", result.code)
      Field("counter", result.counter)
      Field("validFrom", result.validity?.lowerBound)
      Field("validTo", result.validity?.upperBound)
    }
  }
}
