import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// A secret that was given or typed, and how it was shown: the log needs both.
struct ShownSecret: Sendable {
  let box: SharedSecret
  let shown: Shown

  /// The secret as a passcode; each is used once.
  func passcode() throws(VaultError) -> Passcode { try Passcode(box.copy(), shown: shown) }
}

extension OpenVault {
  /// What a channel gave, or what a person typed.
  ///
  /// - Parameter ask: Throws where a person was asked in vain, which is logged.
  func secret(
    _ name: SecretName, of channel: SecretChannel, for core: VaultCore,
    _ ask: (Secrets) throws(CommandError) -> SecretBytes
  ) throws -> ShownSecret {
    let shown: Shown = secrets.willAsk(channel) ? .typed : .given
    let secret = try loggingPrompt(for: name, core) { try ask(secrets) }
    return ShownSecret(box: SharedSecret(secret), shown: shown)
  }

  /// Logs a prompt in `ask` that ended without an answer, or with one that was refused.
  func loggingPrompt<R: ~Copyable>(
    for name: SecretName, _ core: VaultCore, _ ask: () throws -> R
  ) throws -> R {
    do { return try ask() } catch let error as CommandError {
      if let outcome = error.promptOutcome {
        core.logPrompt(for: name, ended: outcome, result: AuditResult(error.exit))
      }
      throw error
    }
  }
}
