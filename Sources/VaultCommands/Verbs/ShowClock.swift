import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault clock`: the recorded time of the vault, beside the clock of the machine.
enum ShowClock: VaultVerb {
  static let words = ["vault", "clock"]
  static let summary = "Show the time that the vault has recorded, or set it back."
  static let reset = Flag("reset", "Set the recorded time back to that of the clock.")
  static let ownOptions: [any OptionKey] = [reset]
  static let channels: [SecretChannel] = [.passcode, .recovery]
  static let passcodeCase: String? = "with --reset"
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "An item has expired when the clock or the recorded time has passed its date. A token, a consent, a transaction, a signed answer and an "
      + "item of a program's own kind is deleted a day after both have; what a person stores stays. "
      + "The recorded time follows the clock while the machine runs. When the clock is further ahead, it follows once the clock has "
      + "said so in two boots, or for two days.",
    "--reset is for a recorded time that is ahead because the clock was wrong for long. It is audited. Items whose date has not passed "
      + "open again; tokens and consents that had ended stay ended. Nothing is changed when the recorded time is not ahead.",
    "With --json: recorded, clock and candidate (Unix seconds; candidate, a time ahead that is not believed yet, only where there is "
      + "one), lead (seconds by which the clock is ahead), and after --reset: setBackFrom, absent when nothing was changed.",
  ]
  static let examples = [
    "vaultctl vault clock",
    "vaultctl vault clock --json",
  ]

  static func needsPerson(_ invocation: Invocation) -> Bool { invocation[reset] }

  static func run(_ command: Command) throws -> Outcome {
    var setBackFrom: Instant?
    if command[reset] {
      guard !command.vault.isClockImpossible else {
        throw CommandError(
          .refused, "the clock is before the time when this program was made",
          hint: "set the clock right first")
      }
      setBackFrom = try command.vault.unlocking(for: .unlocked) { core in try core.setClockBack() }
    }
    let clocks = try command.vault.opened().clocks()
    let rows: [(key: String, time: Instant?)] = [
      ("setBackFrom", setBackFrom), ("recorded", clocks.recorded), ("clock", clocks.wall),
      ("candidate", clocks.candidate),
    ]
    let shown = rows.compactMap { row in row.time.map { (row.key, $0) } }
    return Outcome(
      json: .object(
        shown.map { ($0.0, .integer($0.1.seconds)) } + [("lead", .integer(clocks.lead / 1000))]),
      lines: columns(shown.map { [wording(ofKey: $0.0), Instants.text(seconds: $0.1.seconds)] }) + [
        clocks.words
      ])
  }
}

extension VaultClocks {
  /// What follows for items that expire.
  fileprivate var words: String {
    let difference = lead.magnitude / 1000
    let text = Durations.text(seconds: Int64(difference))
    guard difference >= 60 else { return "the recorded time and the clock agree" }
    return lead > 0
      ? "the clock is ahead by \(text): what has expired since the recorded time counts as expired, and a token or the like is deleted only when the clock has said "
        + "so in two boots or for two days"
      : "the recorded time is ahead by \(text): items expire by it; if the clock is right, set it back with 'vaultctl vault clock --reset'"
  }
}
