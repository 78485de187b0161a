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
/// with their types, and `run(_:)`, which gets a ``Command``. `Declaration/` has the declarations that verbs share:
/// the options, the secrets (``SecretChannel``), and the parts of help and exit codes that follow from them.
///
/// A ``Command`` reaches the vault through ``OpenVault``, which opens and unlocks it once, and secrets through
/// ``Secrets``, which reads an option, a credential or a prompt. `World/` holds everything that comes from outside,
/// so that a test can replace it.
///
/// `RecoveryCodes/` shows new codes, and `JSONLines/` reads exported items. The module VaultWords turns errors of the library into
/// messages and exit codes, and words items and members; VaultDoctor looks for weaknesses.
///
/// Read `Declaration/VaultVerb.swift` first, then `Verbs/ItemGet.swift`, then `World/OpenVault.swift`.
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
    EndingSignals.adopt()
    // The output is written and the vault is closed. Exit handlers of the libraries would only cost time.
    let code = run(ThisProcess.arguments(), in: world) { _exit($0.rawValue) }
    _exit(code.rawValue)
  }

  /// Runs one command line.
  ///
  /// - Parameters:
  ///   - words: The arguments, without the name of the program; `nil` for an argument that is not UTF-8.
  ///   - end: Called with the exit code, unless a signal ends the command.
  package static func run(
    _ words: [String?], in world: World, end: (ExitCode) -> Void = { _ in }
  ) -> ExitCode {
    EndingSignals.during({ told(words, in: world) }, end: end)
  }

  /// The same without a view to signals.
  private static func told(_ words: [String?], in world: World) -> ExitCode {
    let output = OutputStream(
      descriptor: world.standardOutput, name: "standard output", hint: undelivered)
    let errors = OutputStream(
      descriptor: world.standardError, name: "standard error", hint: undelivered)
    let isJSON = words.prefix { $0 != "--" }.contains("--json")
    let messages = Messages(
      of: "vaultctl", to: errors, isJSON: isJSON,
      hasColours: Colour.isWanted(on: errors, in: world.environment), escape: printableSentence)
    do {
      return try run(words, in: world, output: output, messages: messages)
    } catch {
      let error = CommandError(describing: error)
      messages.error(error)
      return error.exit
    }
  }

  private static func run(
    _ words: [String?], in world: World, output: OutputStream, messages: Messages
  ) throws -> ExitCode {
    if let index = words.firstIndex(of: nil) {
      throw CommandError.usage("argument \(index + 1) is not UTF-8")
    }
    let printer = Printer(
      output: output, isJSON: messages.isJSON, hasColours: Colour.isWanted(on: output, in: world.environment))
    switch try Parser.parse(words.compactMap(\.self), of: VerbTable.program) {
    case .help(let text):
      do {
        try output.write(text)
        try output.flush()
      } catch {
        endQuietly(ifLostReaderOf: output, in: world)
        throw error
      }
      return .done
    case .run(let invocation):
      let isLogging = VaultLog.start(invocation, on: world.standardError)
      defer { if isLogging { VaultLog.stop() } }
      let command = Command(
        invocation, in: world, messages: messages,
        vault: OpenVault(invocation: invocation, world: world, messages: messages),
        emit: { outcome throws(CommandError) in try printer.print(outcome) })
      let outcome: Outcome
      do {
        outcome = try command.run()
        try printer.print(outcome)
      } catch {
        if command.verb.isReadOnly(invocation) {
          command.vault.close()
          endQuietly(ifLostReaderOf: output, in: world)
        }
        throw error
      }
      guard let failure = outcome.failure else { return .done }
      messages.error(failure)
      return failure.exit
    }
  }
}

extension VaultControl {
  private static let undelivered =
    "what was done is done, but its result was not delivered; see 'vaultctl audit'"

  /// Ends the process by SIGPIPE if the reader of its output has gone away, as other tools do, because this is not an
  /// error for a command that changes nothing. Returns if SIGPIPE was ignored at the start.
  private static func endQuietly(ifLostReaderOf output: OutputStream, in world: World) {
    guard output.hasLostReader, !world.ignoredBrokenPipes else { return }
    ThisProcess.end(by: SIGPIPE)
  }
}
