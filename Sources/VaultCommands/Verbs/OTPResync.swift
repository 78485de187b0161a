import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// `vaultctl otp resync NAME`: two codes in a row on standard input.
enum OTPResync: VaultVerb {
  static let words = ["otp", "resync"]
  static let summary =
    "Find the counter of a verifier again from two codes in a row; no server is asked."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let channels = ItemOptions.accessChannels + [.pin]
  static let standardInput = StandardInput.line("two codes, each on a line of its own")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused, .outOfStep]
  static let notes = ["Resynchronize a prover with 'otp counter NAME --set N', with N from its server."]
  static let examples = [
    "printf '287082\\n359152\\n' | vaultctl otp resync door",
    "printf '287082\\n359152\\n' | vaultctl otp resync door --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    guard item.attributes[.otpRole] == OTPRole.verifier.rawValue else {
      throw CommandError(
        .refused, "the credential is a prover, which learns its counter from its server",
        hint: "set it with 'vaultctl otp counter NAME --set N'")
    }
    try command.vault.unlockBeforeTyping(item.access)
    let codes = try twoCodes(command.secrets.codes("two codes", to: "find the counter"))
    let acceptance = try command.vault.unlocking {
      try $0.resynchronizeOTP(of: item.id, codes[0], codes[1], context: command.vault.context(for: item))
    }
    return acceptance.outcome(for: item, "found again")
  }

  /// Two lines, or one with two codes of one length, grouped or not.
  private static func twoCodes(_ text: String) throws(CommandError) -> [String] {
    let lines = text.split(whereSeparator: \.isNewline).map(String.init)
    if lines.count == 2 { return lines }
    let characters = TypedCode.characters(of: text)
    let middle = characters.index(characters.startIndex, offsetBy: characters.count / 2)
    guard lines.count == 1, characters.count.isMultiple(of: 2), !characters.isEmpty else {
      throw .malformed("two codes are needed, each on a line of its own")
    }
    return [String(characters[..<middle]), String(characters[middle...])]
  }
}
