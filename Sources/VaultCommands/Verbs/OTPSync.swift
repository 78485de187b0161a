import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp sync NAME --transport PROGRAM`.
enum OTPSync: VaultVerb {
  static let words = ["otp", "sync"]
  static let summary = "Ask the server, and bring the counter and the clock of a prover in step with it."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let channels = ItemOptions.accessChannels + [.pin]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .network, .outOfStep]
  static let notes = [
    "It asks for the PIN where the server wants the current one, and shows it to the server by a code where one can be made. A "
      + "blocked or disabled credential asks for no PIN.",
    "A credential that the server has blocked stays blocked (4), and one that it has disabled stays disabled (9). The counter "
      + "never goes back.",
  ]
  static let examples = [
    "vaultctl otp sync work --transport ~/transport",
    "vaultctl otp sync work --transport ~/transport --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    let transport = try command.neededTransport()
    let context = try command.vault.pinContext()
    let result = try command.vault.unlocking {
      try $0.synchronize(item.id, over: transport, context: context)
    }
    command.note(result.notices, item: item)
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("state", "active")
        Field("counter", result.counter)
        Field("clockOffset", result.clockOffset)
        Field("offlineCodes", result.offlineCodes.map { UInt64($0) })
        Field("offlineSeconds", result.offlineSeconds.map { UInt64($0) })
      }, failure: OnlineOptions.failure(result.notices, done: "took the decision"))
  }
}
