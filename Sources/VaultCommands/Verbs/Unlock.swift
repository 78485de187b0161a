import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl unlock`: the vault stays unlocked in the agent when this ends.
enum Unlock: VaultVerb {
  static let words = ["unlock"]
  static let summary = "Unlock the vault in the agent, for later commands."
  static let lifetime = Setting(
    "for", .duration, "TIME", "Lock it after this time in any case.", defaultValue: "12h")
  static let idle = Setting(
    "idle", .duration, "TIME", "Lock it when no secret was used for this time.", defaultValue: "10m")
  static let ownOptions: [any OptionKey] = [lifetime, idle]
  static let needs = VaultNeed.unlocked
  static let ownExits: [ExitCode] = [.io]
  static let notes = [
    "Needs the agent: 'vaultctl agent start'. In a vault that is unlocked already it asks nothing, and its time begins again. A "
      + "command that uses a secret moves the end by --idle, one that only looks does not.",
    "With --json: path, and idleLeft and absoluteLeft in seconds; without them in a vault without a passcode, which never locks.",
  ]
  static let examples = [
    "vaultctl unlock --passcode-file passcode --for 8h",
    "vaultctl unlock --passcode-fd 3 3<passcode",
  ]
  static let allowedInBatch = false

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard let agent = command.world.agent else { throw CommandError.noAgent }
    try command.vault.unlock(core)
    let path = try command.places.vault
    guard core.hasPasscode else {
      command.messages.note("the vault has no passcode, so there is nothing to lock or unlock")
      return Outcome(json: .object { Field("path", path) })
    }
    let lease = agent.setLease(
      absolute: command[lifetime].map { .seconds($0) }, idle: command[idle].map { .seconds($0) })
    guard let lease, let idleLeft = lease.idleLeft, let absoluteLeft = lease.absoluteLeft else {
      throw CommandError(
        .interactionNotAllowed, "the vault was locked again at once", hint: "try again", code: "locked")
    }
    return Outcome(
      json: .object {
        Field("path", path)
        Field("idleLeft", idleLeft.components.seconds)
        Field("absoluteLeft", absoluteLeft.components.seconds)
      },
      lines: [
        "unlocked  \(printable(path)), \(AgentShowStatus.lease(idleLeft: idleLeft, absoluteLeft: absoluteLeft))"
      ])
  }
}

extension CommandError {
  /// There is no agent to do what only an agent can do.
  static let noAgent = CommandError(
    .io, "no agent is running", hint: "start it with 'vaultctl agent start'", code: "noAgent")
}
