import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl run -- PROGRAM …`: becomes the program, or starts it and conceals secrets in its output. Without an agent it returns only by
/// an error.
enum Exec: VaultVerb {
  static let words = ["run"]
  static let summary = "Run a program that gets secrets as sealed files in memory."
  static let program = Argument(
    "PROGRAM", .program, "The program and its arguments, after --.", takesRest: true)
  static let arguments = [program]
  static let fd = Settings(
    "fd", .placeAndName, "N=NAME",
    "Hand over the secret of NAME, or the value of a reference, as descriptor N: 0, or 3 and more.")
  static let file = Settings(
    "file", .placeAndName, "VAR=NAME", "Hand it over as a file in memory, whose path is in the variable VAR.")
  static let env = Settings(
    "env", .placeAndName, "VAR=NAME",
    "Put it into the variable VAR itself, where every program of the same user can read it while the program runs."
  )
  static let environmentFile = Setting(
    "env-file", .path, "FILE",
    "Set the variables of a file of lines VAR=VALUE, where VALUE may be a reference.")
  static let noMasking = Flag("no-masking", "Conceal no secret in the output of the program.")
  static let ownOptions: [any OptionKey] = [fd, file, env, environmentFile, noMasking]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [
    .notFound, .expired, .refused, .malformed, .programNotRun, .programNotFound,
  ]
  static let notes = [
    "In place of NAME, vaultctl://NAME/FIELD is a reference to one value. " + ReferenceNotes.form,
    "All values are read in one transaction before the program starts. " + ReferenceNotes.told,
    "A line of --env-file is VAR=VALUE. A VALUE that is a reference, all of it, is resolved; any other is passed as it is, and nothing in it "
      + "is quoted or replaced. Empty lines and lines that begin with # are left out. A value with a NUL byte or a line break is for no "
      + "variable (12).",
    "A memory file is on no disk. Its mode is 0400, and it is sealed: no program can change it. It begins at its first "
      + "byte and can be read again through its path, /proc/PID/fd/N. PID is the number of the program: every process of the same user "
      + "can open the path, also one that inherits no descriptor, as long as the program lives and keeps descriptor N.",
    "The path does not work for another user, in a container, for a program that resolves it (realpath) before it opens it, and after "
      + "the program has ended; its number is then used again for another process. A program that closes descriptors "
      + "which it did not open, as ssh does, closes the file: start it from a shell that stays, as in sh -c 'ssh -i \"$F\" HOST; exit $?'. "
      + "A descriptor of --fd reaches only processes that inherit it.",
    "Where a limit (ulimit -f) allows no file of the size of the secret, --fd and --file hand over a pipe: it can be read once.",
    masking, staying,
    "The vault is closed before, though it stays unlocked in an agent, and so is a descriptor that gave the passcode or --env-file; other "
      + "descriptors stay open. The program leaves no core dump.",
    "As in a shell, the exit code is 127 when the program is not found, and 126 when it cannot be run.",
  ]
  private static let masking =
    "Standard output and standard error that are no terminal show <concealed by vaultctl> for a secret of 6 bytes and more that was "
    + "handed over. This stops accidents only: a program that prints a secret in another form, in two outputs, or to a file that it opens "
    + "itself, is not stopped. Account, service, address and shown fields are not concealed. What may be the beginning of a secret is held "
    + "back until more output comes or it ends."
  private static let staying =
    "With nothing to conceal, or with --no-masking, vaultctl becomes the program, so the exit code is the program's and signals reach it "
    + "directly. Else vaultctl stays as its parent, sends signals on to it, and ends as it ends, when its outputs are closed too: give "
    + "--no-masking to a service that tells its manager when it is ready, to a program that leaves another one in the background, and to "
    + "one that speaks a protocol."
  static let examples = [
    "vaultctl run --env PASSWORD=vaultctl://mail/password -- sh -c 'test -n \"$PASSWORD\"'",
    "vaultctl run --env PASSWORD=mail -- sh -c 'test -n \"$PASSWORD\"'",
  ]
  static let allowedInBatch = false
  static let namesCommand: String? = NamesCommand.text()

  static func run(_ command: Command) throws -> Outcome {
    let program = try ProgramStart(command.invocation, in: command.world)
    for name in program.withBraces {
      command.messages.warn(
        "the variable \(name) gets {{ }} as it is: in a file of --env-file a reference is written without braces"
      )
    }
    let wanted = program.wanted
    let values = try command.values(of: wanted.map(\.value)) { wanted[$0].origin }
    let done = command.vault.takeDone().names
    command.vault.close()
    try command.world.host.become(
      program, with: values.map { HandedSecret(secret: $0.secret, isConcealed: $0.isConcealed) }, after: done)
    return Outcome(json: nil)
  }
}
