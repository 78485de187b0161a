import CommandLineKit
import SecretMemory
import TextFormats
import VaultDoctor
import VaultKit
import VaultWords

/// `vaultctl vault purge`: new keys for everything, and a file written again.
enum Purge: VaultVerb {
  static let words = ["vault", "purge"]
  static let summary = "Make deleted items unreadable: replace the keys and rewrite the file."
  static let ownOptions: [any OptionKey] = [RotateEpoch.dropDamaged]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused, .unsupported]
  static let notes = [
    promise,
    "It begins as 'vaultctl vault rotate epoch' does: parts that do not open are listed, and nothing is changed (10, or 15 for parts "
      + "that a newer version of this program made).",
    "With --json: generation, promise, oldKeysRemoved (how many), damaged, newer and dropped as of 'vault rotate epoch'.",
  ]
  static let examples = [
    "vaultctl vault purge",
    "vaultctl vault purge --json",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.endingBetween

  /// Neither more nor less than what holds.
  static let promise =
    "The vault and the device key as they are now open nothing that was deleted before, "
    + "if the old device key is really gone. Copies of the vault, backups and copies of the old device key "
    + "elsewhere still open what they did. The log still names what was deleted."

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let isDropping = command[RotateEpoch.dropDamaged]
    let core = try command.vault.opened(checkingRows: !isDropping)
    let passcode = try command.passcodeToRotate(core)
    let progress = command.progress("purging")
    defer { progress.finish() }
    var damage = Damage(isDropped: isDropping)
    do throws(VaultError) {
      try core.purge(
        passcode: consume passcode, dropDamaged: damage.isDropped,
        progress: { progress.update(done: $0.done, of: $0.total) }, damaged: { damage.parts.append($0) })
    } catch {
      damage.failure = try damage.failure(error)
      let generation = try core.status().generation
      return Outcome(
        json: .object([("generation", .integer(Int64(generation)))] + damage.fields), lines: damage.lines,
        failure: damage.failure)
    }
    command.warnOfAudit(of: core, after: damage)
    let removed = removeOldKeys(command, core: core)
    return Outcome(
      json: .object(
        [
          ("generation", .integer(Int64(try core.status().generation))), ("promise", .string(promise)),
          ("oldKeysRemoved", .integer(Int64(removed))),
        ] + damage.fields),
      lines: damage.lines + [promise])
  }
}

/// Deletes the keys that the vault has replaced, and returns how many. The key of a vault that a restore replaced stays
/// with that vault.
private func removeOldKeys(_ command: Command, core: VaultCore) -> Int {
  do {
    let keys = OldKeys(of: core, at: try command.places.vault, places: command.places.keys)
    let removal = try keys.remove(presentOnly: true).keys
    for failure in removal.failures {
      command.messages.note(failure.message + (CommandError(failure).hint.map { "; \($0)" } ?? ""))
    }
    let left = try keys.found()
    for key in left {
      guard case .needed(let file) = key.standing else { continue }
      command.messages.note(
        "\(file) and its device key still open what they did: remove that file, then the key \(key.place)")
    }
    let unknown = left.count { $0.standing == .unknown }
    if unknown > 0 {
      command.messages.note(
        "there are device keys that no file is known to name (\(unknown)): 'vaultctl vault doctor' lists them"
      )
    }
    return removal.removed.count
  } catch {
    command.messages.note("older device keys may be left: \(CommandError(describing: error).message)")
    return 0
  }
}
