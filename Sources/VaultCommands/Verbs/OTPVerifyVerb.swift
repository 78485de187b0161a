import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl otp verify NAME`: the code comes on standard input.
func runOTPVerify(_ command: Command) throws -> Outcome {
  let item = try command.credential()
  let code = try text(of: command.secrets.line("code", to: "verify a code", twice: false))
  let acceptance = try command.vault.unlocking {
    try $0.verifyOTP(of: item.id, code: code, context: command.vault.context(for: item))
  }
  return accepted(item, acceptance, "accepted")
}

/// `vaultctl otp resync NAME`: two codes in a row on standard input.
func runOTPResync(_ command: Command) throws -> Outcome {
  let item = try command.credential()
  guard item.attributes[.otpRole] == OTPRole.verifier.rawValue else {
    throw CommandError(
      .refused, "the credential is a prover, which learns its counter from its server",
      hint: "set it with 'vaultctl otp counter NAME --set N'")
  }
  let codes = try text(of: command.secrets.line("two codes", to: "find the counter", twice: false))
    .split(whereSeparator: { $0 == "\n" || $0 == " " }).map(String.init)
  guard codes.count == 2 else {
    throw CommandError.malformed("two codes are needed, each on a line of its own")
  }
  let acceptance = try command.vault.unlocking {
    try $0.resynchronizeOTP(of: item.id, codes[0], codes[1], context: command.vault.context(for: item))
  }
  return accepted(item, acceptance, "found again")
}

private func accepted(_ item: Item, _ acceptance: OTPAcceptance, _ word: String) -> Outcome {
  let place = item.isCounterBased ? "counter" : "step"
  return Outcome(
    json: .object([
      ("name", .string(item.name ?? "")), ("accepted", .boolean(true)),
      (place, .unsigned(acceptance.counter)),
      ("distance", .integer(acceptance.distance)),
    ]),
    lines: [word])
}

/// Codes are short and, once typed, no secret of ours any more.
private func text(of bytes: consuming SecretBytes) throws(CommandError) -> String {
  let malformed = CommandError.malformed("that is no code", hint: "give just its characters, without spaces")
  guard bytes.byteCount <= 64 else { throw malformed }
  let text = bytes.expose { span in
    unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
  guard let text else { throw malformed }
  return text
}
