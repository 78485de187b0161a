import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl agent status`: never extends a lease.
enum AgentShowStatus: VaultVerb {
  static let words = ["agent", "status"]
  static let summary = "Show whether the agent runs, and what it has unlocked."
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.notFound]
  static let notes = [
    "Without an agent it ends with 1. It extends the time of no vault. Where logind cannot be asked, nothing but the times and "
      + "'vaultctl lock' locks a vault: not sleep, not a locked screen.",
    "With --json: running, pid, version, logind, asks (client, unlocker, terminal or pinentry), terminal, and vaults with path, unlocked, idleLeft and "
      + "absoluteLeft (seconds). vaults has those that are unlocked and those that a command uses; empty where there is none.",
  ]
  static let examples = [
    "vaultctl agent status",
    "vaultctl agent status --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard let status = command.world.agent?.status() else {
      return Outcome(
        json: .object { Field("running", false) },
        failure: CommandError(
          .notFound, "no agent is running", hint: "start it with 'vaultctl agent start'", code: "noAgent"))
    }
    return outcome(of: status)
  }

  /// - Parameter isKeeper: Whether what a keeper enforces is told too.
  static func outcome(of status: AgentStatus, isKeeper: Bool = false) -> Outcome {
    Outcome(json: json(status, isKeeper), lines: lines(status, isKeeper))
  }

  /// The time that is left, for a person.
  static func lease(idleLeft: Duration, absoluteLeft: Duration) -> String {
    let (idle, absolute) = (idleLeft.components.seconds, absoluteLeft.components.seconds)
    return "for \(Durations.text(seconds: idle)) without a use, \(Durations.text(seconds: absolute)) at most"
  }

  private static func json(_ status: AgentStatus, _ isKeeper: Bool) -> JSON {
    let vaults = status.vaults.map { vault in
      JSON.object {
        Field("path", vault.path)
        Field("unlocked", vault.isUnlocked)
        Field("idleLeft", vault.idleLeft?.components.seconds)
        Field("absoluteLeft", vault.absoluteLeft?.components.seconds)
      }
    }
    return .object {
      Field("running", true)
      Field("pid", Int64(status.process))
      Field("version", status.version)
      Field("logind", status.hearsLogind)
      Field("asks", status.asks.word.rawValue)
      Field("terminal", status.asks.terminal)
      if isKeeper {
        Field("yes", status.asks.enforcesYes ? "keeper" : "advisory")
        Field("logins", status.loginObstacle == nil)
      }
      Field("vaults", .array(vaults))
    }
  }

  private static func lines(_ status: AgentStatus, _ isKeeper: Bool) -> [String] {
    [
      "running   process \(status.process), version \(status.version)",
      "logind    "
        + (status.hearsLogind ? "locks at sleep and with the session" : "not there: only the times lock"),
      "asks      \(printable(status.asks.description))",
    ] + (isKeeper ? keeperLines(status) : []) + status.vaults.map { line($0) }
      + (status.vaults.contains(where: \.isUnlocked) ? [] : ["no vault is unlocked"])
  }

  private static func keeperLines(_ status: AgentStatus) -> [String] {
    let logins = status.loginObstacle.map { CommandError($0) }.map { error in
      "cannot be verified: " + [error.message, error.hint].compactMap(\.self).joined(separator: "; ")
    }
    return [
      "a yes     "
        + (status.asks.enforcesYes
          ? "enforced by the keeper" : "advisory: the program that has started the command can give it"),
      "logins    " + printable(logins ?? "verified by PAM, for this person alone"),
    ]
  }

  private static func line(_ vault: AgentStatus.Vault) -> String {
    var line = (vault.isUnlocked ? "unlocked  " : "locked    ") + printable(vault.path)
    if let idleLeft = vault.idleLeft, let absoluteLeft = vault.absoluteLeft {
      line += ", " + lease(idleLeft: idleLeft, absoluteLeft: absoluteLeft)
    }
    return line
  }
}
