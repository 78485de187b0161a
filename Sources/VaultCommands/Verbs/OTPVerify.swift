import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp verify NAME`: the code comes on standard input.
enum OTPVerify: VaultVerb {
  static let words = ["otp", "verify"]
  static let summary = "Check a one-time code, as a server does. A code is accepted once."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let channels = ItemOptions.accessChannels + [.pin]
  static let standardInput = StandardInput.line("code")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .outOfStep]
  static let notes = [
    "After a wrong code (3), codes are not judged for 5 seconds (4). Each further wrong code adds 5 seconds, up to an hour. A right code "
      + "ends this.",
    "The exit code and the time tell whether there is a credential of that name (1) and whether it waits (4). A script that judges codes of "
      + "others gives one answer to all, and verifies the codes of unknown names by a credential that it keeps for them.",
    "With --json: name, accepted, which is true, counter (HOTP) or step (TOTP), and distance from the one that was expected.",
  ]
  static let examples = [
    "printf 755224 | vaultctl otp verify door",
    "printf 755224 | vaultctl otp verify door --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    try command.vault.unlockBeforeTyping(item.access)
    let code = try command.secrets.codes("code", to: "verify a code")
    let acceptance = try command.vault.unlocking {
      try $0.verifyOTP(of: item.id, code: code, context: command.vault.context(for: item))
    }
    return acceptance.outcome(for: item, "accepted")
  }
}

extension OTPAcceptance {
  /// The result for the credential, with one word for people.
  func outcome(for item: Item, _ word: String) -> Outcome {
    Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("accepted", true)
        Field(item.countsCodes ? "counter" : "step", counter)
        Field("distance", distance)
      }, lines: [word])
  }
}

extension Secrets {
  /// Codes from standard input. They are short and, once typed, no longer secret.
  func codes(_ what: String, to purpose: String) throws(CommandError) -> String {
    try Self.text(ofCode: line(what, to: purpose, twice: false))
  }

  static func text(ofCode bytes: consuming SecretBytes) throws(CommandError) -> String {
    let malformed = CommandError.malformed(
      "that is no code", hint: "give just its characters")
    guard bytes.byteCount <= 128 else { throw malformed }
    let text = bytes.expose { span in
      unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw malformed }
    return text
  }
}
