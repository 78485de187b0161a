import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp export NAME`: the secret in clear, audited.
enum OTPExport: VaultVerb {
  static let words = ["otp", "export"]
  static let summary = "Print the otpauth:// URI of a credential, which contains its secret in clear."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let channels = ItemOptions.accessChannels + [.pin]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "A credential with a suite has no such URI (9); 'vaultctl export jsonl' writes it as a line. The secret behind a "
      + "camouflaged PIN is never exported (9), because it would reveal the PIN. A counter at its end (7) has no "
      + "place in a URI either: the last code would be made again."
  ]
  static let examples = [
    "vaultctl otp export rfc",
    "vaultctl otp export rfc --json",
  ]

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    let uri = SharedSecret(
      try command.vault.unlocking {
        try $0.exportOTP(of: item.id, context: command.vault.context(for: item))
      })
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("uri", .secretText(uri))
      },
      pieces: [.secret(uri), .newlineOnTerminal])
  }
}
