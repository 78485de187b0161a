import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl otp export NAME`: the secret in clear, audited.
func runOTPExport(_ command: Command) throws -> Outcome {
  let item = try command.credential()
  let uri = SharedSecret(
    try command.vault.unlocking {
      try $0.exportOTP(of: item.id, context: command.vault.context(for: item))
    })
  return Outcome(
    json: .object([("name", .string(item.name ?? "")), ("uri", .secretText(uri))]),
    pieces: [.secret(uri), .newlineOnTerminal])
}
