import SecretMemory
import VaultKit

/// `vaultctl rotate epoch`: a new generation of every stored key; goes on where a killed one stopped.
func runRotateEpoch(_ command: Command) throws -> Outcome {
  let isDropping = command.invocation.has("drop-damaged")
  let core = try command.vault.opened(checkingRows: !isDropping)
  let passcode = try command.passcodeToRotate(core)
  let progress = command.progress("rotating")
  defer { progress.finish() }
  var damage = Damage(isDropped: isDropping)
  do throws(VaultError) {
    try core.rotateEpoch(
      passcode: consume passcode, dropDamaged: damage.isDropped, isAnew: true,
      progress: { progress.update(done: $0.done, of: $0.total) }, damaged: { damage.parts.append($0) })
  } catch {
    damage.failure = try damage.failure(error)
  }
  let status = try core.status()
  return Outcome(
    json: .object(
      [
        ("generation", .integer(Int64(status.generation))), ("items", .integer(Int64(status.itemCount))),
      ] + damage.fields),
    lines: (damage.failure == nil
      ? ["generation  \(status.generation)", "items       \(status.itemCount)"] : []) + damage.lines,
    failure: damage.failure)
}

/// The parts that a rotation found not to open.
struct Damage {
  /// Whether they were to be removed.
  let isDropped: Bool
  var parts: [DamagedPart] = []
  var failure: CommandError?

  init(isDropped: Bool) { self.isDropped = isDropped }

  /// The error of a rotation, where it has a list to show beside it.
  func failure(_ error: VaultError) throws -> CommandError {
    guard error.code == .damaged, !parts.isEmpty else { throw error }
    return CommandError(describing: error)
  }

  /// `damaged` and `dropped`; removed parts are no longer listed as damaged.
  var fields: [(String, JSON)] {
    let dropped = isDropped ? parts.filter { !$0.isRepairable } : []
    return [
      ("damaged", .array(isDropped ? [] : parts.map(\.json))), ("dropped", .array(dropped.map(\.json))),
    ]
  }

  var lines: [String] {
    parts.map { part in
      let word = !isDropped ? "damaged     " : part.isRepairable ? "rebuilt     " : "removed     "
      return word + printable(part.words)
    }
  }
}

extension DamagedPart {
  fileprivate var json: JSON {
    .object(
      JSON.optional("id", item.map { .string($0.hexadecimal) })
        + JSON.optional("name", name.map { .string($0) })
        + JSON.optional("auditEntry", auditSequence.map { .unsigned($0) }) + [("what", .string(what))])
  }
}

extension Command {
  /// The passcode, where one is set: what it guards is wrapped anew.
  func passcodeToRotate(_ core: VaultCore) throws -> Passcode? {
    guard core.hasPasscode else { return nil }
    try vault.requireNoDelay(core)
    return try Passcode(secrets.secret(.passcode))
  }
}
