import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction verify NAME`: the code of a challenge comes on standard input, or the data that was signed.
enum TransactionVerify: VaultVerb {
  static let words = ["transaction", "verify"]
  static let summary = "Check the code for a challenge or for data by a verifier's credential."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions = QuestionOptions.all
  static let channels = ItemOptions.accessChannels + [.pin, .suitePIN, .code]
  static let standardInput = StandardInput.data(
    "data, or with --question the code, whose final newline is dropped")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .outOfStep]
  static let notes =
    QuestionOptions.notes + [
      "A suite with C or T accepts a code once: a counter, or with T alone a time step. A suite with neither accepts the "
        + "same code for the same question again, so never ask one question twice."
    ]
  static let examples = [
    "printf 237653 | vaultctl transaction verify gate --question 00000000",
    "printf 237653 | vaultctl transaction verify gate --question 00000000 --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let signer = try command.signer()
    try command.vault.unlockBeforeTyping(signer.item.access)
    let (request, _) = try command.request(for: signer, to: "verify a code", isGuarded: false)
    let code = try command.code()
    let acceptance = try command.vault.unlocking { core in
      try core.verifyOCRA(
        code, for: request, with: signer.item.id, context: command.vault.context(for: signer.item))
    }
    return Outcome(json: json(acceptance, of: signer), lines: ["accepted"])
  }

  private static func json(_ acceptance: OTPAcceptance, of signer: OCRADescription) -> JSON {
    let isCounted = signer.suite.hasCounter
    let isCountedOrTimed = isCounted || signer.suite.timeStepSeconds != nil
    return .object {
      Field("name", signer.item.name ?? "")
      Field("accepted", true)
      Field(isCounted ? "counter" : "step", isCountedOrTimed ? acceptance.counter : nil)
      Field("distance", isCountedOrTimed ? acceptance.distance : nil)
    }
  }
}

extension Command {
  /// The code to judge: from its channel; else from standard input, where the data is not there; else from a person.
  fileprivate func code() throws(CommandError) -> String {
    if has(QuestionOptions.question), secrets.willAsk(.code) {
      return try secrets.codes("code", to: "verify a code")
    }
    return try Secrets.text(ofCode: secrets.secret(.code, to: "verify a code"))
  }
}
