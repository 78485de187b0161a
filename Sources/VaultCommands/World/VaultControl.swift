package import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultPrompts

/// The tool itself: words in, exit code out.
package enum VaultControl {
  /// Runs the words of this process and ends it.
  package static func main(in world: World) -> Never {
    ProcessHardening.apply()
    openStandardDescriptors()
    var world = world
    world.ignoredBrokenPipes = isIgnored(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
    // With SIGXFSZ ignored, a write beyond the limit on file sizes fails with an error.
    world.ignoredFileSizeSignal = isIgnored(SIGXFSZ)
    signal(SIGXFSZ, SIG_IGN)
    endOnInterrupt()
    let code = run(argumentWords(), in: world)
    // What was printed is written and the vault is closed; the libraries' own cleaning up would only cost time.
    _exit(code.rawValue)
  }

  /// Runs one command line.
  ///
  /// - Parameter words: Without the name of the program; `nil` where a word is not UTF-8.
  package static func run(_ words: [String?], in world: World) -> ExitCode {
    let output = OutputStream(
      descriptor: world.standardOutput, name: "standard output", hint: undelivered)
    let errors = OutputStream(
      descriptor: world.standardError, name: "standard error", hint: undelivered)
    let isJSON = words.prefix { $0 != "--" }.contains("--json")
    let messages = Messages(
      of: "vaultctl", to: errors, isJSON: isJSON,
      hasColours: Colour.isWanted(on: errors, in: world.environment), escape: printable)
    do {
      return try run(words, in: world, output, messages)
    } catch {
      let error = CommandError(describing: error)
      messages.error(error)
      return error.exit
    }
  }

  private static func run(
    _ words: [String?], in world: World, _ output: OutputStream, _ messages: Messages
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

  /// A reader that has gone away is no error of a command that changes nothing: it ends by SIGPIPE, as other tools do. Where
  /// SIGPIPE was ignored at the start, it returns.
  private static func endQuietly(ifLostReaderOf output: OutputStream, in world: World) {
    guard output.hasLostReader, !world.ignoredBrokenPipes else { return }
    endBySignal(SIGPIPE)
  }

  private static func argumentWords() -> [String?] {
    (1..<max(1, Int(CommandLine.argc))).map { index in
      unsafe CommandLine.unsafeArgv[index].flatMap { unsafe String(validatingCString: $0) }
    }
  }

  /// A file of ours must never become descriptor 0, 1 or 2, where a message or a result would be written into it.
  /// What was closed stays useless: reading finds nothing, writing fails.
  private static func openStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      _ = unsafe open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
  }

  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(signal, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Ctrl-C outside a prompt is exit 130, unless whoever started us ignores it.
  private static func endOnInterrupt() {
    guard !isIgnored(SIGINT) else { return }
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in _exit(130) }
    action.sa_flags = 0
    unsafe sigaction(SIGINT, &action, nil)
  }
}
