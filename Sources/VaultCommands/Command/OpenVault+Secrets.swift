import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

extension OpenVault {
  /// The secret that a channel gave or a person typed.
  ///
  /// - Parameter ask: Gets the secret. If a prompt ends without a usable answer, it throws, and this is logged.
  func secret(
    _ name: SecretName, of channel: SecretChannel, for core: VaultCore,
    _ ask: (Secrets) throws(CommandError) -> SecretBytes
  ) throws -> ShownSecret {
    let shown: Shown = secrets.willAsk(channel) ? .typed : .given
    let secret = try loggingPrompt(for: name, core) { try ask(secrets) }
    return ShownSecret(box: SharedSecret(secret), shown: shown)
  }

  /// Logs a prompt in `ask` that ended without an answer, or with an answer that was refused.
  func loggingPrompt<R: ~Copyable>(
    for name: SecretName, _ core: VaultCore, _ ask: () throws -> R
  ) throws -> R {
    do { return try ask() } catch let error as CommandError {
      if let outcome = error.promptOutcome, !isAnswered(error, core) {
        core.logPrompt(for: name, ended: outcome, result: AuditResult(error.exit))
      }
      throw error
    }
  }
}
