package import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultLogging
import VaultPrompts
import VaultWords

/// `vaultctl`: one file for each verb, and the parts that verbs share.
///
/// This type is the tool itself: it parses a command line with the verbs of ``VerbTable``, runs one, and returns an
/// exit code.
///
/// `Verbs/` has a file for each verb. A verb is a type that conforms to ``VaultVerb``: its declaration, its options
/// with their types, and `run(_:)`, which gets a ``Command``. `Declaration/` has the options that verbs share, and the parts of
/// help and exit codes that follow from them.
///
/// `Command/` has what a verb runs with. A ``Command`` reaches the vault through ``OpenVault``, which opens and unlocks it once, and
/// secrets through ``Secrets``, which reads an option, a credential or a prompt. `World/` holds everything that comes from outside,
/// so that a test can replace it.
///
/// `Words/` has what people type who come from another tool: words that work, and words that are answered with the command to copy.
/// `RecoveryCodes/` shows new codes, and `JSONLines/` reads exported items. The module VaultWords turns errors of the library into
/// messages and exit codes, and words items and members; VaultDoctor looks for weaknesses.
///
/// Read `Command/VaultVerb.swift` first, then `Verbs/ItemGet.swift`, then `Command/OpenVault.swift`.
package enum VaultControl {
  /// Runs the arguments of this process, then ends the process.
  package static func main(in world: World) -> Never {
    ProcessHardening.apply()
    VaultLibraries.leaveOutErrorTexts()
    VaultLibraries.rewriteThroughFiles()
    ThisProcess.openStandardDescriptors()
    var world = world
    world.ignoredBrokenPipes = ThisProcess.isIgnored(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
    // With SIGXFSZ ignored, a write beyond the limit on file sizes fails with an error.
    world.ignoredFileSizeSignal = ThisProcess.isIgnored(SIGXFSZ)
    signal(SIGXFSZ, SIG_IGN)
    ThisProcess.endOnInterrupt()
    ProcessSignals.adopt()
    // The output is written and the vault is closed. Exit handlers of the libraries would only cost time.
    switch run(ThisProcess.arguments(), in: world) {
    case .exit(let code): _exit(code.rawValue)
    // As outside of a prompt.
    case .signal(SIGINT): _exit(ExitCode.interrupted.rawValue)
    case .signal(let number): ThisProcess.end(by: number)
    }
  }

  /// Runs one command line. Signals stay held when this returns, so that the caller ends as this says.
  ///
  /// - Parameter words: The arguments, without the name of the program; `nil` for an argument that is not UTF-8.
  package static func run(_ words: [String?], in world: World) -> Ending {
    let ending = world.interruption.boundingWaits { told(words, in: world) }
    return world.interruption.signal.map { .signal($0) } ?? ending
  }

  /// Tells why a command line is not run.
  package static func tell(_ error: CommandError, for words: [String], in world: World) {
    messages(for: words, in: world).error(error)
  }

  private static func messages(for words: [String?], in world: World) -> Messages {
    let errors = OutputStream(
      descriptor: world.standardError, name: "standard error", hint: undelivered)
    return Messages(
      of: "vaultctl", to: errors, isJSON: words.prefix { $0 != "--" }.contains("--json"),
      hasColours: Colour.isWanted(on: errors, in: world.environment), escape: printableSentence)
  }

  /// The same without a view to signals.
  private static func told(_ words: [String?], in world: World) -> Ending {
    let output = OutputStream(
      descriptor: world.standardOutput, name: "standard output", hint: undelivered)
    let messages = messages(for: words, in: world)
    do {
      return try run(words, in: world, output: output, messages: messages)
    } catch is LostReader { return .signal(SIGPIPE) } catch is Interrupted {
      return .exit(.interrupted)
    } catch {
      let error = CommandError(describing: error)
      // Without an agent, a signal that ends the command while it waits leaves no message.
      guard world.agent == nil || !error.isEndOfWait(by: world.interruption) else {
        return .exit(.interrupted)
      }
      messages.error(error)
      return .exit(error.exit)
    }
  }

  private static func run(
    _ words: [String?], in world: World, output: OutputStream, messages: Messages
  ) throws -> Ending {
    if let former = world.environment.formerVariable { throw CommandError.usage(former.refusal) }
    if let index = words.firstIndex(of: nil) {
      throw CommandError.usage("argument \(index + 1) is not UTF-8")
    }
    let printer = Printer(
      output: output, isJSON: messages.isJSON, hasColours: Colour.isWanted(on: output, in: world.environment),
      // A pager is a program of the person's choice: neither the agent nor the keeper starts it.
      paging: world.agent == nil && !world.isKeeper ? world.environment : nil)
    switch try Parser.parse(words.compactMap(\.self), of: VerbTable.program, in: Surroundings(of: world)) {
    case .help(let request):
      try ending(byLostReaderOf: output, in: world) { try show(request, on: output, in: world) }
      return .exit(.done)
    case .run(let invocation):
      let words = words.compactMap(\.self)
      if let ending = try AgentClient.run(invocation, words: words, in: world, messages: messages) {
        return ending
      }
      return try logging(invocation, in: world) { log in
        try run(invocation, in: world, output: output, messages: messages) { outcome throws(CommandError) in
          log?.write()
          try printer.print(outcome)
        }
      }
    }
  }

  private static func run(
    _ invocation: Invocation, in world: World, output: OutputStream, messages: Messages,
    printing emit: @escaping (Outcome) throws(CommandError) -> Void
  ) throws -> Ending {
    let command = Command(
      invocation, in: world, messages: messages,
      vault: OpenVault(invocation: invocation, world: world, messages: messages), emit: emit)
    let outcome: Outcome
    do {
      outcome = try command.run()
      try emit(outcome)
    } catch {
      guard command.verb.isReadOnly(invocation) else { throw error }
      command.vault.close()
      return try ending(byLostReaderOf: output, in: world) { throw error }
    }
    guard let failure = outcome.failure else { return .exit(.done) }
    messages.error(failure)
    return .exit(failure.exit)
  }
}

extension VaultControl {
  /// Shows a page of the help; a whole one through a pager, where it is longer than the screen of a terminal.
  static func show(
    _ request: HelpRequest, on output: OutputStream, in world: World
  ) throws(CommandError) {
    let help = Help(
      VerbTable.program, width: output.isTerminal ? output.terminalSize.textWidth : 80,
      isBold: Colour.isWanted(on: output, in: world.environment))
    let text = help.text(request)
    guard request.isShort else { return try Pager.print(text, to: output, in: world.environment) }
    try output.write(text)
    try output.flush()
  }

  private static let undelivered =
    "what was done is done, but its result was not delivered; see 'vaultctl audit'"

  /// Turns an error into an end by SIGPIPE if the reader of the output has gone away, as other tools end then, because this is not an
  /// error for a command that changes nothing. Not if SIGPIPE was ignored at the start.
  private static func ending<R>(
    byLostReaderOf output: OutputStream, in world: World, _ body: () throws -> R
  ) throws -> R {
    do { return try body() } catch {
      guard output.hasLostReader, !world.ignoredBrokenPipes else { throw error }
      throw LostReader()
    }
  }

  /// Runs a command with the log that its options ask for, on its standard error.
  private static func logging(
    _ invocation: Invocation, in world: World, _ body: (KeptLog?) throws -> Ending
  ) throws -> Ending {
    guard let tags = invocation[CommonOptions.log] else { return try body(nil) }
    let kept = world.vaults.map { _ in KeptLog(to: world.standardError) }
    defer { kept?.write() }
    return try VaultLog.during(
      Set(tags), level: invocation[CommonOptions.logLevel] ?? .info,
      isUnmasked: invocation[CommonOptions.logUnmasked],
      to: [kept?.sink ?? .descriptor(world.standardError)]
    ) { try body(kept) }
  }
}

/// The reader of the output has gone away.
private struct LostReader: Error {}

extension CommandError {
  /// Whether this says no more than that a signal has ended a wait.
  fileprivate func isEndOfWait(by interruption: Interruption) -> Bool {
    interruption.signal != nil && code == VaultError.Code.appCancelled.rawValue && promptEnd == nil
      && hint == nil
  }
}
