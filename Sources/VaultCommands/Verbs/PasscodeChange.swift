import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl passcode change`.
enum PasscodeChange: VaultVerb {
  static let words = ["passcode", "change"]
  static let summary = "Replace the passcode that is set; no item is rewritten."
  static let channels = [SecretChannel.newPasscode]
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [SecretStrength.guessableNote + " With --json: passcode and passcodeGuessable."]
  static let examples = [
    "vaultctl passcode change --passcode-fd 3 --new-passcode-fd 4 3<old 4<new",
    "vaultctl passcode change --passcode-file old --new-passcode-file new",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard core.hasPasscode else { throw CommandError.noPasscode }
    // The old one is judged before the new one is typed twice.
    let old = try command.vault.checkedPasscode(of: core, to: "change the passcode")
    let new = try command.newPasscode(core)
    guard !old.shown.box.copy().isEqualInConstantTime(to: new.box.copy()) else {
      throw CommandError(
        .refused, "the new passcode is the old one", hint: "nothing was changed; choose another")
    }
    let isGuessable = command.warnIfGuessable(new.box.copy(), what: "passcode")
    try core.changePasscode(from: old.checked, to: new.passcode())
    return Outcome(
      json: .object {
        Field("passcode", true)
        Field("passcodeGuessable", isGuessable)
      })
  }
}

extension Command {
  /// The passcode that is set, typed twice.
  func newPasscode(_ core: VaultCore) throws -> ShownSecret {
    try vault.secret(.newPasscode, of: .newPasscode, for: core) { secrets throws(CommandError) in
      try secrets.secret(.newPasscode, isNew: true)
    }
  }
}

extension CommandError {
  static var noPasscode: CommandError {
    CommandError(.refused, "no passcode is set", hint: "set one with 'vaultctl passcode set'")
  }
}
