import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault rotate epoch`: a new generation of every stored key; goes on where a killed one stopped.
enum RotateEpoch: VaultVerb {
  static let words = ["vault", "rotate", "epoch"]
  static let summary = "Replace every key of the vault, and seal again what the keys seal."
  static let dropDamaged = Flag(
    "drop-damaged",
    "Remove items and entries of the log that are damaged and do not open, and log each. An item that lacks only rows of the index stays. "
      + "A PIN that items are behind is never removed: nothing is changed, and the items are named (10). "
      + "A vault whose rows something else has changed opens with this option, and is sound afterwards. The audit keeps its gaps: a "
      + "warning names what is still wrong with it.")
  static let ownOptions: [any OptionKey] = [dropDamaged]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused, .unsupported]
  static let notes = [
    "Other programs keep working meanwhile. After an interruption the next command that has the keys continues the rotation. "
      + "This command completes a rotation that is under way, whoever began it, and then begins a new epoch.",
    "First, every part of the vault that opens without a person is opened. Parts that do not open are listed, and no key is "
      + "changed (10). Damage that appears later pauses the rotation (10): the keys of both epochs stay in force, every other "
      + "command works, and this one names the damaged parts.",
    "Parts that a newer version of this program made do not open here either, and are not damaged: they are listed, nothing "
      + "removes them, and the rotation stops in the same way (15). Rotate with the newer version.",
    "The secrets themselves are not replaced: after a compromise, change them where they are used.",
    "With --json: generation (from 1, +1 each time), items (how many), damaged, newer and dropped: lists with id, name where it "
      + "opens, or auditEntry, and what is wrong. With exits 10 and 15 too.",
  ]
  static let examples = [
    "vaultctl vault rotate epoch",
    "vaultctl vault rotate epoch --json",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.endingBetween

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let isDropping = command[dropDamaged]
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
    command.warnOfAudit(of: core, after: damage)
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
    guard [.damaged, .newerFormat].contains(error.code), !parts.isEmpty else { throw error }
    return CommandError(describing: error)
  }

  /// `damaged`, `newer` and `dropped`; removed or rebuilt parts are no longer listed as damaged.
  var fields: [(String, JSON)] {
    func list(_ isWanted: (DamagedPart) -> Bool) -> JSON { .array(parts.filter(isWanted).map(\.json)) }
    return [
      ("damaged", list { !$0.isRemoved && !isRebuilt($0) && $0.remedy != .newerVersion }),
      ("newer", list { $0.remedy == .newerVersion }), ("dropped", list(\.isRemoved)),
    ]
  }

  var lines: [String] { parts.map { word($0).padded + printable($0.words) } }

  private func word(_ part: DamagedPart) -> String {
    if part.isRemoved { return "removed" }
    if part.remedy == .newerVersion { return "newer" }
    return isRebuilt(part) ? "rebuilt" : "damaged"
  }

  private func isRebuilt(_ part: DamagedPart) -> Bool {
    part.remedy == .repair && isDropped && failure == nil
  }
}

extension String {
  /// As wide as the names of the result.
  fileprivate var padded: String { self + String(repeating: " ", count: max(1, 12 - count)) }
}

extension DamagedPart {
  fileprivate var json: JSON {
    .object {
      Field("id", item?.hexadecimal)
      Field("name", name)
      Field("auditEntry", auditSequence)
      Field("what", what)
    }
  }
}

extension Command {
  /// A repair removes entries of the audit that do not open, and fills no gap. What stays wrong is told, with the way out.
  func warnOfAudit(of core: VaultCore, after damage: Damage) {
    guard damage.isDropped, damage.failure == nil else { return }
    do throws(VaultError) {
      guard let problem = try core.auditProblem() else { return }
      messages.warn("the audit stays damaged, and 'vault check' says so: \(problem); \(AuditWords.wayOut)")
    } catch {
      // The rotation is done.
      messages.warn("whether the audit has gaps was not seen: \(error.message)")
    }
  }

  /// The passcode, where one is set: what it guards is wrapped again. A recovery code that is given ends a delay before.
  func passcodeToRotate(_ core: VaultCore) throws -> Passcode? {
    guard core.hasPasscode else { return nil }
    try vault.endDelay(core)
    return try vault.secret(.passcode, of: .passcode, for: core) { secrets throws(CommandError) in
      try secrets.secret(.passcode, to: "give the vault new keys", triesLeft: 1)
    }.passcode()
  }
}
