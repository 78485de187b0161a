package import CommandLineKit
import Glibc
import VaultKit
import VaultPrompts
import VaultWords

/// One command while it runs: its arguments and the world that it runs in.
package struct Command {
  let verb: any VaultVerb.Type
  package let invocation: Invocation
  package let world: World
  package let messages: Messages
  /// Shared by the commands of a batch.
  let vault: OpenVault
  /// Prints a result before the command ends, for commands that continue afterwards.
  let emit: (Outcome) throws(CommandError) -> Void

  init(
    _ invocation: Invocation, in world: World, messages: Messages, vault: OpenVault,
    emit: @escaping (Outcome) throws(CommandError) -> Void
  ) {
    verb = invocation.vaultVerb
    self.invocation = invocation
    self.world = world
    self.messages = messages
    self.vault = vault
    self.emit = emit
  }

  /// Runs the verb. A signal that ends a prompt waits until the verb has logged that; what others do, ``Interruption`` says.
  ///
  /// - Throws: What the verb throws. Where a disk, another process or a signal ended it midway, the error says what was done.
  func run() throws -> Outcome {
    if verb.runsIn == .client { _ = try world.localHost() }
    if world.isKeeper, verb.needsPerson(invocation) { try vault.provePerson() }
    if verb.usesClock { vault.warnOfClock() }
    _ = vault.takeDone()
    do {
      let commits = verb.isReadOnly(invocation) ? .ignored : verb.commitSignals
      var outcome = try world.host.holdingEndingSignal(for: world.patience.afterSignal) {
        try world.interruption.meeting(commits) { try verb.run(self) }
      }
      vault.warnOfWitness()
      warnOfExposed()
      outcome.json = outcome.json.map(messages.addingWarnings)
      return outcome
    } catch let end as Interrupted {
      throw end
    } catch let error as VaultError where error.code == .expired {
      warnOfExposed()
      throw naming(error)
    } catch  where invocation.unknownWord != nil && isAbsence(error) {
      throw neitherCommandNorName(CommandError(describing: error))
    } catch {
      warnOfExposed()
      let done = vault.takeDone().names
      var told = CommandError(describing: error)
      guard told.exit == .io || world.interruption.signal != nil, !done.isEmpty else { throw error }
      told.sayWhatStays(done)
      throw told
    }
  }

  /// The error about an only word that is no command, and that no entry has as its name.
  private func neitherCommandNorName(_ error: CommandError) -> CommandError {
    guard let unknown = invocation.unknownWord else { return error }
    guard error.exit == .notFound, let hint = error.hint else { return unknown }
    let isNear = hint.hasPrefix("did you mean") || hint.hasPrefix("it is in the trash")
    return CommandError(
      unknown.exit, "\(unknown.message), and no entry has that name",
      hint: isNear ? [hint, unknown.hint].compactMap(\.self).joined(separator: " ") : unknown.hint)
  }

  private func isAbsence(_ error: any Error) -> Bool {
    let exit = CommandError(describing: error).exit
    return exit == .notFound || exit == .noVault
  }

  /// The refusal of an item that has expired, with its name and its date where the command names the item.
  private func naming(_ error: VaultError) -> any Error {
    guard let item = try? target(), item.expires != nil, error.advice == .removeExpiry(of: item.name) else {
      return error
    }
    return item.expiredError
  }

  /// Names the files with secrets that were used although every user of the system can read them.
  private func warnOfExposed() {
    for file in vault.given.takeExposed() { messages.warn("every user of this system can read \(file)") }
  }

  package var secrets: Secrets {
    Secrets(invocation: vault.secrets.invocation, command: invocation, world: world, known: vault.given)
  }
  var places: Places { Places(invocation: invocation, world: world) }
  /// Clocks, randomness, derivation costs and protectors of the vault.
  var vaultWorld: VaultEnvironment { places.world(world.vault) }
  package var isJSON: Bool { messages.isJSON }

  /// Whether a person is at a terminal and sees what this command prints.
  var isOnTerminal: Bool { isatty(world.standardInput) == 1 && isatty(world.standardOutput) == 1 }

  /// Whether a person typed this command at a terminal and reads what it says: no script, and no line of a batch.
  var isTyped: Bool {
    world.batchInput == nil && !isJSON && invocation.mayPrompt && isatty(world.standardInput) == 1
      && isatty(world.standardError) == 1
  }

  /// Whether the person agrees; also `false` without an answer.
  func confirm(_ operation: String) -> Bool {
    (try? CommandPrompt(secrets: secrets).confirm(PromptRequest(.confirmation, operation: operation)))
      ?? false
  }

  /// Whether the option is given.
  func has(_ key: any OptionKey) -> Bool { invocation.has(key) }

  subscript(flag: Flag) -> Bool { invocation[flag] }
  subscript<Value>(setting: Setting<Value>) -> Value? { invocation[setting] }
  subscript(settings: Settings) -> [String] { invocation[settings] }
  subscript(argument: Argument) -> String? { invocation[argument] }

  /// An argument that the parser requires.
  func required(_ argument: Argument) -> String {
    guard let value = invocation[argument] else {
      preconditionFailure("Command.required(_:): \(argument.name) can be left out")
    }
    return value
  }

  func progress(_ title: String) -> Progress {
    // A dumb terminal cannot take a line back.
    Progress(
      of: "vaultctl", title, on: messages.stream, isQuiet: isJSON || world.environment["TERM"] == "dumb")
  }
}

extension CommandError {
  /// Adds to the hint what the command has done before it failed.
  ///
  /// - Parameter done: As the log names it.
  mutating func sayWhatStays(_ done: [String]) {
    guard !done.isEmpty else { return }
    let stays =
      "what was done before that stays: \(done.joined(separator: ", ")), as 'vaultctl audit' names it"
    hint = [stays, hint].compactMap(\.self).joined(separator: "; ")
  }
}
