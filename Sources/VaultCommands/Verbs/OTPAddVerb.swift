import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import TextFormats
import VaultKit

/// `vaultctl otp add NAME`: the URI comes on standard input.
func runOTPAdd(_ command: Command) throws -> Outcome {
  let invocation = command.invocation
  guard let name = invocation.argument("NAME") else { throw CommandError.usage("NAME is missing") }
  // Where there is no vault, nothing is asked for and read.
  _ = try command.vault.opened()
  let access = try command.newAccess()
  try command.vault.unlockBeforeTyping(access)
  let uri = try OTPAuthURI(
    parsing: command.secrets.line("otpauth:// URI", to: "store a credential", twice: true))
  let warnings = uri.warnings.map(\.words)
  for warning in warnings { command.messages.note("warning: \(warning)") }
  let context = try command.vault.context(for: access)
  let added = try command.vault.unlocking { core in
    try core.addOTP(
      uri, named: name, role: invocation.text("role") == "verifier" ? .verifier : .prover, access: access,
      audit: invocation.text("audit") == "all" ? .all : .changes, context: context)
  }
  let json = added.item.json
  return Outcome(
    json: warnings.isEmpty ? json : json.adding("warnings", .array(warnings.map { .string($0) })))
}

extension OTPAuthURI.Warning {
  fileprivate var words: String {
    switch self {
    case .shortSecret(let bits): "the secret has \(bits) bits only; RFC 4226 asks for 128"
    case .trailingBits: "the Base32 text of the secret ends in bits that mean nothing"
    case .issuerMismatch: "the label names another issuer than the parameter, which counts"
    case .emptyAccount: "the label names no account"
    case .ignoredParameters(let count):
      "\(count) parameter\(count == 1 ? "" : "s") of the URI mean nothing here"
    }
  }
}
