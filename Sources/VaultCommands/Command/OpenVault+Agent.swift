import CommandLineKit
import VaultKit
import VaultWords

/// A vault that the agent keeps open for all commands. Without an agent nothing of this does anything.
extension OpenVault {
  /// The vault as the agent has it; nil if this command opens one of its own.
  ///
  /// - Parameter open: Opens it for all. The signals of this command are not those of others.
  func shared(
    _ path: String, deviceKey: String?,
    opening open: (_ path: String, _ checkingRows: Bool, _ environment: VaultEnvironment) throws -> VaultCore
  ) throws -> (VaultCore, Bool)? {
    guard let vaults = world.vaults else { return nil }
    var environment = environment
    environment.committing = { _ in }
    environment.unlocking = nil
    let found = try vaults.vault(at: path, deviceKey: deviceKey) { try open(path, true, environment) }
    guard let found else { return nil }
    return (found.core.committing(by: commitStep.run, unlocking: unlockStep.run), found.isNew)
  }

  /// Judges the passcode and the recovery code that options or a credential give, although the vault is unlocked already: once for each
  /// command line. All other secrets are read by the verbs that use them, whether the vault is unlocked or not.
  ///
  /// - Throws: Exit 3 for a wrong one; a wrong passcode counts as an attempt.
  func judgeGiven(_ core: VaultCore) throws {
    guard world.vaults != nil, !hasJudged, core.isUnlocked, core.hasPasscode else { return }
    if isGiven(.passcode) {
      if let refusal { throw refusal }
      // A recovery code is judged before it: it ends the delay that may be in its way.
      do { _ = try verifiedPasscode(of: core) { try core.judge($0.passcode()) } } catch {
        refusal = error
        throw error
      }
    } else if isGiven(.recovery) {
      try endDelay(core)
    } else {
      return
    }
    hasJudged = true
  }

  /// Has the person who asks prove it, in a keeper: by the passcode or the recovery code, in this very command line; by the login
  /// password where the vault has no passcode.
  func provePerson() throws {
    let core = try opened()
    guard core.hasPasscode else { return try proveLogin(to: "let this leave the keeper") }
    guard !hasJudged, try unlock(core) == nil, !hasJudged else { return }
    _ = try verifiedPasscode(of: core, to: "let this leave the keeper") { try core.judge($0.passcode()) }
    hasJudged = true
  }

  /// Has the person prove the login password. A keeper verifies it itself.
  func proveLogin(to purpose: String) throws {
    do throws(VaultError) {
      try world.host.presence.verifyPresence(PromptRequest(.presence, operation: purpose), asking: prompt)
    } catch {
      guard [.verificationUnavailable, .unsupported].contains(error.code) else {
        throw prompt.takeFailure() ?? error
      }
      throw CommandError(
        .refused, "nothing tells a person from a program here: \(error.message)",
        hint: "run it as root: sudo vault-keeper run PERSON -- …", code: "personNeeded")
    }
  }

  /// Whether an option or a credential gives a secret that the command line takes.
  private func isGiven(_ channel: SecretChannel) -> Bool {
    channel.isTaken(by: secrets.invocation.verb) && !secrets.willAsk(channel)
  }

  /// Runs a use of the vault, and tells the agent of it.
  func using<R: ~Copyable>(_ core: VaultCore, _ body: () throws -> R) throws -> R {
    guard let vaults = world.vaults else { return try body() }
    try judgeGiven(core)
    let wasUnlocked = core.isUnlocked
    let result = try body()
    guard core.isUnlocked else { return result }
    if wasUnlocked { vaults.used(core) } else { noteUnlocked(core) }
    return result
  }

  func noteUnlocked(_ core: VaultCore) { world.vaults?.unlocked(core) }

  /// - Returns: False if another command has unlocked the vault meanwhile.
  func beginAsking(_ core: VaultCore) -> Bool {
    guard let vaults = world.vaults, secrets.willAsk(.passcode) else { return true }
    isAskingToUnlock = vaults.beginAsking(core)
    return isAskingToUnlock
  }

  func endAsking() {
    guard isAskingToUnlock else { return }
    isAskingToUnlock = false
    world.vaults?.endAsking()
  }

  /// Whether a prompt for the passcode ended because another command has unlocked the vault.
  func isAnswered(_ error: any Error, _ core: VaultCore) -> Bool {
    isAskingToUnlock && core.isUnlocked && CommandError(describing: error).exit == .cancelled
  }
}
