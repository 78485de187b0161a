import CommandLineKit
import SecretMemory
import TextFormats
import VaultPrompts
import VaultWords

/// `vaultctl vault batch`: a result for each line as soon as it is done.
enum Batch: VaultVerb {
  static let words = ["vault", "batch"]
  static let summary = "Run commands from standard input, one JSON object on each line, with one unlock."
  static let keepGoing = Flag("keep-going", "Continue after a command that failed.")
  static let ownOptions: [any OptionKey] = [keepGoing]
  /// What a line can run.
  private static let verbs = VerbTable.all.filter { $0.allowedInBatch }
  /// Those of every command that it runs. Each is read once, and serves all lines that take it.
  static let channels = SecretChannel.allCases.filter { channel in
    verbs.contains { $0.channels.contains(channel) }
  }
  static let standardInput = StandardInput.data("commands")
  static let needs = VaultNeed.unlocked
  static let ownExits: [ExitCode] = verbs.flatMap { $0.exitCodes }
  static let notes = [
    "A line is {\"args\":[\"add\",\"mail\"],\"stdin\":\"...\"}, or \"stdinBase64\" in place of \"stdin\". "
      + "Each command is answered by one line: {\"exit\":0,\"result\":{...}} or {\"exit\":1,\"error\":{...}}. "
      + "The batch ends at the first failure, or with --keep-going at the end, with the exit code of the first failure.",
    "Secrets are given on the line of the batch, not in its commands: each one serves every command that takes it. A "
      + "wrong passcode, phrase, PIN or code (3), and a block (4) where a PIN or a code is given, end the batch also with "
      + "--keep-going, because each use of a wrong secret is counted.",
  ]
  static let examples = [
    "printf '%s\\n' '{\"args\":[\"ls\"]}' '{\"args\":[\"status\"]}' | vaultctl vault batch",
    "printf '%s\\n' '{\"args\":[\"get\",\"mail\"]}' | vaultctl vault batch --keep-going",
  ]
  static let allowedInBatch = false
  static let changesFiles = true

  static func run(_ command: Command) throws -> Outcome {
    let reader = BatchReader(descriptor: command.world.standardInput)
    var failure: CommandError?
    while true {
      let answer: BatchAnswer
      do {
        guard let line = try reader.next() else { break }
        answer = try self.answer(to: line, for: command)
      } catch {
        answer = BatchAnswer(outcome: nil, failure: CommandError(describing: error), isUnread: true)
      }
      try command.emit(Outcome(json: answer.json, pieces: [.json(answer.json)]))
      try command.world.interruption.release()
      if let error = answer.failure {
        if failure == nil { failure = error }
        guard command[keepGoing] else { break }
        if error.exit == .io, answer.isUnread { break }
        if mayCountAgain(error.exit, command) { break }
        if answer.isUnread { try reader.skipLine() }
      }
    }
    return Outcome(json: nil, failure: failure)
  }
}

/// What is answered to one line.
private struct BatchAnswer {
  let outcome: Outcome?
  let failure: CommandError?
  /// The line was malformed, and its rest is not read yet.
  var isUnread = false

  var json: JSON {
    .object {
      Field("exit", (failure?.exit ?? .done).rawValue)
      if let result = outcome?.json { Field("result", result) }
      if case .object(let error)? = failure?.json { error }
    }
  }
}

extension Batch {
  /// Whether a secret of the batch may have been wrong, so that its next use would be counted too.
  private static func mayCountAgain(_ exit: ExitCode, _ command: Command) -> Bool {
    let counted: [SecretChannel] =
      switch exit {
      case .authenticationFailed: [.passcode, .phrase, .pin, .code]
      // By a server, which judged it, or by the last wrong one.
      case .blocked: [.pin, .code]
      default: []
      }
    return counted.contains { !command.secrets.willAsk($0) }
  }

  /// Runs one line. Its errors are answers; only what concerns the whole batch is thrown.
  private static func answer(to line: BatchLine, for command: Command) throws -> BatchAnswer {
    do {
      let outcome = try outcome(of: line, for: command)
      return BatchAnswer(outcome: outcome, failure: outcome.failure)
    } catch {
      return BatchAnswer(outcome: nil, failure: CommandError(describing: error))
    }
  }

  private static func outcome(of line: BatchLine, for command: Command) throws -> Outcome {
    guard case .run(let invocation) = try Parser.parse(line.words, of: VerbTable.program) else {
      throw CommandError.usage("help is not given in a batch", hint: "run the command with --help by itself")
    }
    let inner = command.inner(invocation, reading: line.input)
    try check(inner, line: line)
    return try inner.run()
  }

  /// The vault, its secrets and the prompt belong to the whole batch, not to a line.
  private static func check(_ inner: Command, line: BatchLine) throws {
    guard inner.verb.allowedInBatch else {
      throw CommandError.usage(
        "'vaultctl \(inner.verb.name)' does not run in a batch", hint: "run it by itself")
    }
    let ofBatch: [any OptionKey] = [
      CommonOptions.vault, CommonOptions.deviceKey, CommonOptions.deviceKeyDescriptor, CommonOptions.prompt,
      CommonOptions.noInput,
      CommonOptions.reason, CommonOptions.agent, CommonOptions.log, CommonOptions.logLevel,
      CommonOptions.logUnmasked,
    ]
    let secrets = inner.verb.allChannels.map(\.options).flatMap(\.options)
    for option in ofBatch + secrets where inner.has(option) {
      throw CommandError.usage("\(option.shown) stands on the line of 'vaultctl vault batch', not in it")
    }
    let ofPeople: [any OptionKey] = [Audit.follow, ItemOptions.copy, ItemEdit.editor]
    for option in ofPeople where inner.has(option) {
      throw CommandError.usage("\(option.shown) is for a person and does not stand in a batch")
    }
    guard line.input == nil || inner.verb.readsStandardInput else {
      throw CommandError.malformed("'vaultctl \(inner.verb.name)' reads no standard input")
    }
  }
}

extension Command {
  /// A command of a batch: it has the vault of the batch, and its own input.
  fileprivate func inner(_ invocation: Invocation, reading input: SharedSecret?) -> Command {
    var world = world
    world.batchInput = BatchInput(secret: input)
    return Command(invocation, in: world, messages: messages.asJSON, vault: vault, emit: emit)
  }
}
