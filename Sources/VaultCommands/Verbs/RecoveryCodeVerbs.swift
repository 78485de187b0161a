import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts

/// `vaultctl recovery-code new`: the code is on paper or in a file before it works.
func runRecoveryCodeNew(_ command: Command) throws -> Outcome {
  let target = try RecoveryCodeTarget(command)
  let core = try command.vault.opened()
  guard !core.isReadOnly else { throw readOnly }
  if core.hasPasscode { try command.vault.unlock(core) }
  let hadCode = try core.status().hasRecoveryCode
  try NewRecoveryCode(command: command, target: target, core: core).make(
    core.freshRecoveryCode(), replacing: hadCode
  ) { code in try command.vault.unlocking { try $0.setRecoveryCode(code) } }
  var fields: [(String, JSON)] = [("recoveryCode", .boolean(true)), ("replaced", .boolean(hadCode))]
  var lines: [String] = []
  if case .file(let path) = target {
    fields.append(("file", .string(path)))
    lines.append("recovery code  " + printable(path))
  }
  return Outcome(json: .object(fields), lines: lines)
}

/// `vaultctl recovery-code check`.
func runRecoveryCodeCheck(_ command: Command) throws -> Outcome {
  let path = try command.places.vault
  // A missing vault is reported before the person types anything.
  _ = try VaultCore.outline(at: path)
  let code = try RecoveryCode(text: command.secrets.secret(.recovery))
  try VaultCore.checkRecoveryCode(code, at: path, environment: command.vaultWorld)
  return Outcome(
    json: .object([("valid", .boolean(true))]), lines: ["this recovery code opens the vault"])
}

/// `vaultctl recovery-code remove`.
func runRecoveryCodeRemove(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  if core.hasPasscode { try command.vault.unlock(core) }
  try command.vault.unlocking { try $0.removeRecoveryCode() }
  command.messages.note(
    "if the device key is lost now, only backups are left: keep a copy of it elsewhere")
  return Outcome(json: .object([("recoveryCode", .boolean(false))]))
}

private var readOnly: CommandError {
  CommandError(
    .io, "the vault is read-only here: no recovery code can be made",
    hint: "check the permissions of its folder", code: VaultError.Code.readOnly.rawValue)
}

/// Where a new recovery code goes.
enum RecoveryCodeTarget {
  case terminal
  case file(String)

  /// The place that `--out` names, or the terminal. An obstacle is reported before anything is asked.
  init(_ command: Command) throws(CommandError) {
    if let path = command.invocation.text("out") {
      guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
      self = .file(path)
      return
    }
    let why =
      command.invocation.mayPrompt
      ? Terminal.obstacle(at: command.world.terminalPath)?.obstacle : "asking is switched off"
    if let why {
      throw CommandError(
        .interactionNotAllowed, "a recovery code is shown on a terminal, and \(why)",
        hint: "write it to a new file with --out FILE")
    }
    self = .terminal
  }
}

/// Makes a recovery code. The old code works until the new one is known to be kept.
struct NewRecoveryCode {
  let command: Command
  let target: RecoveryCodeTarget
  let core: VaultCore

  /// - Parameters:
  ///   - hadCode: Whether there is an old code that works until then.
  ///   - seal: Makes the code the vault's, in one commit.
  func make(
    _ code: consuming RecoveryCode, replacing hadCode: Bool, _ seal: (borrowing RecoveryCode) throws -> Void
  ) throws {
    var code = code
    switch target {
    case .file(let path):
      do { try SecretFile.create(path, code.text, named: "recovery code") } catch {
        throw unchanged(error, hadCode)
      }
    case .terminal:
      try show(code)
      code.shown = .typed
    }
    do { try seal(code) } catch { throw failure(error, hadCode) }
    guard hadCode else { return }
    command.messages.note("the old recovery code no longer opens the vault")
  }

  private func show(_ code: borrowing RecoveryCode) throws {
    do throws(CommandError) { try CodeScreen(command: command).show(code) } catch {
      try command.vault.loggingPrompt(for: .newRecoveryCode, core) { throw error }
    }
  }

  /// Adds to an error which of the codes works now.
  private func failure(_ error: any Error, _ hadCode: Bool) -> CommandError {
    var described = CommandError(describing: error)
    guard described.code != Self.unconfirmed else {
      described.hint =
        hadCode
        ? "either recovery code may be the valid one: 'vaultctl recovery-code check' tells which"
        : "the recovery code may be valid: 'vaultctl recovery-code check' tells"
      return described
    }
    if case .file(let path) = target { SecretFile.remove(path) }
    return unchanged(described, hadCode)
  }

  private func unchanged(_ error: CommandError, _ hadCode: Bool) -> CommandError {
    let state = "the new recovery code opens nothing" + (hadCode ? ", the old one works as before" : "")
    var error = error
    error.hint = error.hint.map { "\(state); \($0)" } ?? state
    return error
  }

  /// The disk failed during the commit: the commit may appear after a crash.
  private static let unconfirmed = "unconfirmed"
}

/// Shows a new recovery code on the terminal itself, and checks that it was written down.
struct CodeScreen {
  let command: Command

  /// Shows the code, and returns when its last two groups were typed. Meanwhile no transaction is open.
  ///
  /// - Throws: exit 5 after three wrong answers, and when the person declines; 6 without a terminal.
  func show(_ code: borrowing RecoveryCode) throws(CommandError) {
    do throws(TerminalError) {
      let terminal = try Terminal(path: command.world.terminalPath)
      for round in 0..<Self.rounds {
        let typed = try terminal.readLine("\(action): the last two groups: ", limit: Self.longestAnswer) {
          terminal throws(TerminalError) in
          guard round == 0 else { return try terminal.showLine("Those are not its last two groups.") }
          try write(code, on: terminal)
        }
        if code.endsWith(typed) { return }
      }
    } catch {
      switch error {
      case .cancelled: throw declined("cancelled at the prompt for the last two groups", .cancelled)
      case .timedOut: throw declined("nobody answered the prompt for the last two groups", .timeout)
      case .tooLong: throw declined("the answer is longer than a recovery code", .answered)
      case .busy: throw declined("another prompt stayed open", nil)
      case .noTerminal:
        throw CommandError(
          .interactionNotAllowed, "the recovery code could not be shown: the terminal is gone",
          hint: Self.state)
      case .background, .inUse, .noLock:
        throw CommandError(.interactionNotAllowed, error.obstacle ?? "nobody can be asked", hint: Self.state)
      case .signalled: throw declined("a signal ended the prompt for the last two groups", .signal)
      }
    }
    throw declined("the last two groups did not match \(Self.rounds) times", .answered)
  }

  private func write(
    _ code: borrowing RecoveryCode, on terminal: borrowing Terminal
  ) throws(TerminalError) {
    try terminal.showLine("\(action): the new recovery code, which is not shown again:")
    terminal.show("    ")
    try terminal.show(code.text)
    try terminal.showLine("")
    try terminal.showLine("Write it down. It becomes valid when you type its last two groups.")
  }

  private func declined(_ why: String, _ outcome: PromptOutcome?) -> CommandError {
    CommandError(.cancelled, why + ": no recovery code was made", hint: Self.state, prompt: outcome)
  }

  private var action: String { "vaultctl \(command.invocation.verb.name)" }

  private static let state = "a code that was shown opens nothing; the vault is unchanged"
  private static let rounds = 3
  private static let longestAnswer = 100
}

extension Command {
  /// Whether a person is present to whom the command can offer something that its arguments do not ask for.
  var mayOffer: Bool {
    let prompt = invocation.text("prompt") ?? "auto"
    return !isJSON && invocation.mayPrompt && prompt != "pinentry" && isatty(world.standardInput) == 1
      && Terminal.obstacle(at: world.terminalPath) == nil
  }

  /// Offers a recovery code, and makes one when the person agrees.
  ///
  /// - Returns: Whether one was made.
  func offerRecoveryCode(to core: VaultCore) throws -> Bool {
    var request = PromptRequest(
      .confirmation,
      operation: "a recovery code opens the vault when the device key is lost; it is written on paper")
    request.question = "make a recovery code now"
    guard try TerminalPrompt(path: world.terminalPath).confirm(request) else { return false }
    try NewRecoveryCode(command: self, target: .terminal, core: core).make(
      core.freshRecoveryCode(), replacing: false
    ) {
      try core.setRecoveryCode($0)
    }
    return true
  }
}
