import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl agent start`: starts `vaultd`, which is beside this program.
enum AgentBegin: VaultVerb {
  static let words = ["agent", "start"]
  static let summary = "Start the agent, unless it runs."
  static let ask = Setting(
    "ask",
    .choice([
      "client": AgentAsking.Word.client, "unlocker": .unlocker, "terminal": .terminal, "pinentry": .pinentry,
    ]), "",
    "Where a person is asked for the commands that the agent runs: where the command runs, on the terminal from which the vault was "
      + "unlocked, on the terminal of --terminal, or through a pinentry of the agent.",
    defaultValue: "client")
  static let terminal = Setting(
    "terminal", .path, "PATH", "The terminal for --ask terminal, as 'tty' prints it there.")
  static let ownOptions: [any OptionKey] = [ask, terminal]
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.refused, .unsupported]
  static let runsIn = RunPlace.client
  static let notes = [
    "The agent is the program vaultd beside vaultctl; it is not started where others can write to it or to its directory (9). It "
      + "listens in $XDG_RUNTIME_DIR/vaultctl, and belongs to no terminal and no shell. docs/systemd has units that start it at login.",
    "No command changes who is asked: docs/decisions/0050 says what each choice stops. An agent that runs already keeps its own (9 if --ask "
      + "is given).",
    "With --json: started, false where an agent ran already.",
  ]
  static let examples = [
    "vaultctl agent start",
    "vaultctl agent start --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let asking = try asking(command)
    let isNew = try AgentStart.start(command.world.agentProgram, asking: asking)
    guard isNew || !command.has(ask) else {
      throw CommandError(
        .refused, "an agent runs already, and keeps its own choice of who is asked",
        hint: "'vaultctl agent status' shows it; 'vaultctl agent stop' ends the agent", code: "agentRunning")
    }
    return Outcome(
      json: .object { Field("started", isNew) },
      lines: [isNew ? "the agent listens" : "the agent is running already"])
  }

  private static func asking(_ command: Command) throws(CommandError) -> AgentAsking {
    let (word, terminal) = (command[ask] ?? .client, command[terminal])
    guard word == .terminal || terminal == nil else {
      throw .usage("--terminal is for --ask terminal", hint: "leave it out, or give --ask terminal")
    }
    guard let asking = AgentAsking(word, terminal: terminal) else {
      throw .usage(
        "--ask terminal takes --terminal with an absolute path",
        hint: "type 'tty' on the terminal that is to be asked, and give what it prints")
    }
    return asking
  }
}
