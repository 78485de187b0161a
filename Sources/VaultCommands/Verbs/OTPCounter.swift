import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp counter NAME`.
enum OTPCounter: VaultVerb {
  static let words = ["otp", "counter"]
  static let summary = "Show the counter of a credential, or set it by hand."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let set = Setting("set", .number(0...UInt64.max), "N", "The counter of the next code.")
  static let force = Flag("force", "Accept a counter that was used before: codes will repeat.")
  static let ownOptions: [any OptionKey] = [set, force]
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels + [.pin]
  static let passcodeCase: String? = "for --set, " + PasscodeGuard.verbCase
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let examples = [
    "vaultctl otp counter rfc --set 100",
    "vaultctl otp counter rfc",
  ]

  static func needsPerson(_ invocation: Invocation) -> Bool { invocation[force] }

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    guard item.countsCodes else {
      throw CommandError(
        .refused, "the credential has no counter", hint: "look at 'vaultctl otp show'")
    }
    let core = try command.vault.opened()
    if let counter = command[set] {
      try command.vault.unlocking {
        try $0.setCounter(
          of: item.id, to: counter, force: command[force], context: command.vault.context(for: item))
      }
    } else if command[force] {
      throw CommandError.usage("--force needs --set N")
    }
    let state = try core.state(of: item.id)
    if state.isBlocked { command.messages.note("the counter has reached its end: its last code was made") }
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("counter", state.counter)
        Field("needsResync", state.needsResync)
        Field("exhausted", state.isBlocked)
      },
      lines: [String(state.counter)])
  }
}
