import Glibc
import SecretMemory
import VaultKit
import VaultPrompts
import CommandLineKit
import VaultWords

/// Makes a recovery code. The old code works until the new one is known to be kept.
struct NewRecoveryCode {
  let command: Command
  let target: RecoveryCodeTarget
  let core: VaultCore

  /// - Parameters:
  ///   - hadCode: Whether there is an old code that works until then.
  ///   - seal: Makes the code the vault's, in one commit.
  func make(
    _ code: consuming RecoveryCode, replacing hadCode: Bool, _ seal: (borrowing RecoveryCode) throws -> Void
  ) throws {
    var code = code
    var file: NewSecretFile?
    switch target {
    case .file(let path):
      file = NewSecretFile(path, secret: code.text, named: "recovery code", in: command.world)
    case .terminal:
      try show(code)
      code.shown = .typed
    }
    do {
      if let file { try command.vault.making(file) { try seal(code) } } else { try seal(code) }
    } catch { throw failure(error, hadCode: hadCode) }
    if case .terminal = target { command.messages.note("the recovery code is valid from now on") }
    guard hadCode else { return }
    command.messages.note("the old recovery code no longer opens the vault")
  }

  private func show(_ code: borrowing RecoveryCode) throws {
    do throws(CommandError) { try CodeScreen(command: command).show(code) } catch {
      try command.vault.loggingPrompt(for: .newRecoveryCode, core) { throw error }
    }
  }

  /// Adds to an error which of the codes works now.
  private func failure(_ error: any Error, hadCode: Bool) -> CommandError {
    var described = CommandError(describing: error)
    guard described.code != Self.unconfirmed else {
      described.hint =
        hadCode
        ? "either recovery code may be the valid one: 'vaultctl recovery-code verify' tells which"
        : "the recovery code may be valid: 'vaultctl recovery-code verify' tells"
      return described
    }
    return unchanged(described, hadCode: hadCode)
  }

  private func unchanged(_ error: CommandError, hadCode: Bool) -> CommandError {
    let state = "the new recovery code opens nothing" + (hadCode ? ", the old one works as before" : "")
    var error = error
    error.hint = error.hint.map { "\(state); \($0)" } ?? state
    return error
  }

  /// The disk failed during the commit: the commit may appear after a crash.
  private static let unconfirmed = "unconfirmed"
}
