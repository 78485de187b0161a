import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl exec -- PROGRAM …`: becomes the program. Without an agent it returns only by an error.
enum Exec: VaultVerb {
  static let words = ["exec"]
  static let summary = "Run a program that gets secrets as sealed files in memory."
  static let program = Argument(
    "PROGRAM", .program, "The program and its arguments, after --.", takesRest: true)
  static let arguments = [program]
  static let fd = Settings(
    "fd", .placeAndName, "N=NAME", "Hand over the secret of NAME as descriptor N: 0, or 3 and more.")
  static let file = Settings(
    "file", .placeAndName, "VAR=NAME",
    "Hand over the secret of NAME as a file in memory, whose path is in the variable VAR.")
  static let env = Settings(
    "env", .placeAndName, "VAR=NAME",
    "Put the secret of NAME into the variable VAR itself, where every program of the same user can "
      + "read it while the program runs.")
  static let ownOptions: [any OptionKey] = [fd, file, env]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .expired, .refused, .malformed]
  static let notes = [
    "A memory file is on no disk. Its mode is 0400, and it is sealed: no program can change it. It begins at its first "
      + "byte and can be read again through its path, /proc/PID/fd/N. PID is the number of the program: every process of the same user "
      + "can open the path, also one that inherits no descriptor, as long as the program lives and keeps descriptor N.",
    "The path does not work for another user, in a container, for a program that resolves it (realpath) before it opens it, and after "
      + "the program has ended; its number is then used again for another process. A program that closes descriptors "
      + "which it did not open, as ssh does, closes the file: start it from a shell that stays, as in sh -c 'ssh -i \"$F\" HOST; exit $?'. "
      + "A descriptor of --fd reaches only processes that inherit it.",
    "Where a limit (ulimit -f) allows no file of the size of the secret, --fd and --file hand over a pipe: it can be read once.",
    "vaultctl becomes the program, so the exit code is the program's and signals reach it directly. The "
      + "vault is closed before, though it stays unlocked in an agent, and so is a descriptor that gave the passcode; other descriptors "
      + "stay open. The program leaves no core dump.",
    "The exit code is 13 when the program cannot be started.",
  ]
  static let example = "vaultctl exec --fd 3=mail -- sh -c 'wc -c <&3'"
  static let allowedInBatch = false
  static let namesCommand: String? = NamesCommand.text()

  static func run(_ command: Command) throws -> Outcome {
    let program = try ProgramStart(command.invocation, in: command.world)
    let secrets = try command.secrets(of: program.handovers)
    let done = command.vault.takeDone().names
    command.vault.close()
    try command.world.host.become(program, with: secrets, after: done)
    return Outcome(json: nil)
  }
}

extension Command {
  /// Every name is looked up before the passcode is asked for.
  fileprivate func secrets(of handovers: [Handover]) throws -> [SharedSecret] {
    let core = try vault.opened()
    let items = try handovers.map { handover in
      do { return try core.item(named: handover.item) } catch let error as VaultError {
        guard error.code == .itemNotFound else { throw error }
        throw CommandError(
          .notFound, "there is no item with the name in \(handover.option)", hint: CommandError(error).hint)
      }
    }
    return try items.map { try secret(of: $0).secret }
  }
}
