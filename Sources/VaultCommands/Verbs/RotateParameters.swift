import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault rotate parameters`: the same passcode, derived again with a new salt and with parameters that take a given
/// time on this machine.
enum RotateParameters: VaultVerb {
  static let words = ["vault", "rotate", "parameters"]
  static let summary = "Derive the keys from the same passcode again, at a cost measured on this machine."
  static let cost = Setting(
    "target", .milliseconds(50...10_000), "TIME", "The most time that one derivation may take.",
    defaultValue: "500ms")
  static let ownOptions: [any OptionKey] = [cost]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "Memory grows first, to 1 GiB or an eighth of this machine's, then passes, to 16; the choice is never below the "
      + "parameters that a new vault gets. Every machine that opens the vault needs that memory.",
    "With --json: memoryKiB, passes, lanes and milliseconds of Argon2id as it is now, and the same in before.",
  ]
  static let examples = [
    "vaultctl vault rotate parameters --passcode-file old",
    "vaultctl vault rotate parameters --passcode-file old --json",
  ]
  static let allowedInBatch = false

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard core.hasPasscode else {
      throw CommandError(
        .refused, "no passcode is set, so nothing is derived", hint: "set one with 'vaultctl passcode set'")
    }
    let target = Duration.milliseconds(command[cost] ?? 500)
    let passcode = try command.vault.checkedPasscode(
      of: core, to: "derive keys from it with other parameters")
    let progress = command.progress("measuring")
    var steps = 0
    let (before, now) = try core.recalibrate(
      passcode.shown.passcode(), checked: passcode.checked, target: target
    ) {
      steps += 1
      progress.update(done: steps, of: 0)
    }
    progress.finish()
    if now.memoryKiB * now.passes < before.memoryKiB * before.passes {
      command.messages.warn(
        "guessing is cheaper than before now: a greater --target makes it dearer", mark: "")
    }
    if .milliseconds(now.milliseconds) > target {
      command.messages.warn(
        "this takes longer than was asked for: a new vault gets as much, and less is never chosen", mark: "")
    }
    return Outcome(
      json: .object(now.fields + [("before", .object(before.fields))]),
      lines: ["before  \(before.text)", "now     \(now.text)"])
  }
}

extension DerivationCost {
  fileprivate var fields: [(String, JSON)] {
    [
      ("memoryKiB", .integer(Int64(memoryKiB))), ("passes", .integer(Int64(passes))),
      ("lanes", .integer(Int64(lanes))), ("milliseconds", .integer(milliseconds)),
    ]
  }

  fileprivate var text: String {
    "\(memoryKiB) KiB, \(passes) passes, \(lanes) lanes: \(milliseconds) ms"
  }
}
