import Glibc
package import SecretMemory
import VaultKit
import VaultPrompts

/// Where a command's secrets come from: an option, a systemd credential, or a prompt.
package struct Secrets {
  let invocation: Invocation
  let world: World
  let known: GivenSecrets

  /// The secret of one channel.
  ///
  /// - Parameters:
  ///   - isNew: It is being set, so a prompt asks for it twice.
  ///   - problem: What was wrong with the answer before, which a prompt shows.
  /// - Throws: exit 6 when it would have to be asked for and may not, 5 when the person declines, 12 when
  ///   it is malformed, 13 when its file is not private.
  package func secret(
    _ channel: SecretChannel, isNew: Bool = false, problem: String? = nil
  ) throws(CommandError) -> SecretBytes {
    if let given = try given(channel) { return given }
    let typed = try ask(
      channel.title, problem: problem, limit: SecretReading.longestPhrase, twice: isNew,
      insteadOf: alternatives(to: channel))
    return try SecretReading.checkPhrase(typed, named: channel.title)
  }

  /// As ``secret(_:isNew:)``, but the person may give an empty answer: `nil`.
  ///
  /// - Parameter what: What the prompt asks for.
  func answer(_ channel: SecretChannel, asking what: String) throws(CommandError) -> SecretBytes? {
    if let given = try given(channel) { return given }
    let typed = try ask(
      what, limit: SecretReading.longestPhrase, twice: false, insteadOf: alternatives(to: channel))
    return typed.byteCount == 0 ? nil : try SecretReading.checkPhrase(typed, named: channel.title)
  }

  /// What was given without a prompt, if anything. A channel is read once.
  package func given(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    try known.secret(channel) { () throws(CommandError) in try read(channel) }
  }

  private func read(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    if let number = invocation.text(channel.descriptorOption), let descriptor = Int32(number) {
      return try SecretReading.phrase(from: descriptor, named: channel.title)
    }
    if let path = invocation.text(channel.fileOption) {
      return try SecretFile.read(path, named: channel.title)
    }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else {
      return nil
    }
    return try SecretFile.credential(folder + "/vaultctl.passcode", named: channel.title)
  }

  /// Whether ``secret(_:isNew:)`` would ask a person.
  func willAsk(_ channel: SecretChannel) -> Bool {
    if invocation.has(channel.descriptorOption) || invocation.has(channel.fileOption) { return false }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else { return true }
    // One that cannot be looked at is not asked for either: reading it says why.
    return (try? FilePlace.exists(folder + "/vaultctl.passcode")) == false
  }

  /// Whether ``data(_:limit:)`` and ``line(_:twice:)`` would ask a person.
  var asksForData: Bool { world.batchInput == nil && isatty(world.standardInput) == 1 }

  /// Data from standard input, byte for byte; on a terminal it is asked for without echo.
  package func data(_ what: String, limit: Int = SecretReading.longestSecret) throws(CommandError)
    -> SecretBytes
  {
    if let typed = try typedInput(what, twice: true) { return typed }
    return try SecretReading.all(of: world.standardInput, limit: limit, named: what)
  }

  /// A line from standard input, one newline dropped.
  package func line(_ what: String, twice: Bool) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, twice: twice) { return SecretReading.droppingNewline(typed) }
    let bytes = try SecretReading.all(
      of: world.standardInput, limit: SecretReading.longestSecret, named: what)
    return SecretReading.droppingNewline(bytes)
  }
}

extension Secrets {
  /// What a batch handed over, or what a person types; nil when standard input is neither.
  private func typedInput(_ what: String, twice: Bool) throws(CommandError) -> SecretBytes? {
    if let batch = world.batchInput {
      guard let box = batch.secret else {
        throw .malformed("\"stdin\" or \"stdinBase64\" is missing: the \(what)")
      }
      return box.expose { SecretBytes(copying: $0) }
    }
    guard isatty(world.standardInput) == 1 else { return nil }
    return try ask(
      what, limit: Terminal.longestLine, twice: twice,
      insteadOf: "give it on standard input, through a pipe or a file")
  }

  private func ask(
    _ what: String, problem: String? = nil, limit: Int, twice: Bool, insteadOf hint: String
  ) throws(CommandError) -> SecretBytes {
    guard invocation.mayPrompt else {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and asking is switched off", hint: hint)
    }
    let first = try read(what, problem, limit, hint)
    guard twice else { return first }
    let second = try read("\(what) again", nil, limit, hint)
    guard first.isEqualInConstantTime(to: second) else {
      throw .malformed("the two entries of the \(what) differ", hint: "nothing was changed; try again")
    }
    return first
  }

  /// From the terminal, else from pinentry, as `--prompt` says.
  private func read(
    _ what: String, _ problem: String?, _ limit: Int, _ hint: String
  ) throws(CommandError) -> SecretBytes {
    let chosen = invocation.text("prompt") ?? "auto"
    guard chosen != "pinentry" else { return try readPinentry(what, problem, hint, insteadOf: nil) }
    do throws(TerminalError) { return try readTerminal(what, problem, limit) } catch {
      switch error {
      case .noTerminal, .background:
        guard chosen == "auto" else { throw Self.nobody(what, error, hint) }
        return try readPinentry(what, problem, hint, insteadOf: error)
      case .noLock: throw Self.nobody(what, error, hint)
      case .busy: throw CommandError(.cancelled, "another prompt stayed open: the \(what) was not asked for")
      case .cancelled: throw CommandError(.cancelled, "cancelled at the prompt for the \(what)")
      case .timedOut: throw CommandError(.cancelled, "nobody answered the prompt for the \(what)")
      case .tooLong(let limit): throw SecretReading.tooLong(what, limit)
      case .signalled(let signal): endBySignal(signal)
      }
    }
  }

  private func readTerminal(
    _ what: String, _ problem: String?, _ limit: Int
  ) throws(TerminalError) -> SecretBytes {
    let terminal = try Terminal(path: world.terminalPath)
    let beginning = problem.map { $0 + "; " } ?? ""
    return try terminal.readSecret("\(beginning)\(action): \(what): ", limit: limit)
  }

  /// - Parameter obstacle: Why the terminal did not ask, where it was tried first.
  private func readPinentry(
    _ what: String, _ problem: String?, _ hint: String, insteadOf obstacle: TerminalError?
  ) throws(CommandError) -> SecretBytes {
    let found: Pinentry
    do throws(Pinentry.Absence) {
      found = try Pinentry.find(terminalPath: world.terminalPath) { world.environment[$0] }
    } catch {
      if let obstacle { throw Self.nobody(what, obstacle, hint) }
      let why = VaultError(absence: error)
      throw Self.nobody(what, why.message, why.hint ?? hint)
    }
    var request = PromptRequest(.passcode, operation: action)
    request.question = what
    request.problem = problem
    do throws(VaultError) { return try PinentryPrompt(found).readSecret(request) } catch {
      throw CommandError(error)
    }
  }

  private static func nobody(_ what: String, _ obstacle: TerminalError, _ hint: String) -> CommandError {
    nobody(what, obstacle.obstacle ?? "nobody answered", hint)
  }

  private static func nobody(_ what: String, _ why: String, _ hint: String) -> CommandError {
    CommandError(.interactionNotAllowed, "the \(what) is needed, and \(why)", hint: hint)
  }

  /// What is about to happen, as the prompt shows it.
  private var action: String {
    let object = invocation.argument("NAME") ?? invocation.text("id") ?? invocation.text("account")
    return "vaultctl \(invocation.verb.name)" + (object.map { " '\($0)'" } ?? "")
  }

  private func alternatives(to channel: SecretChannel) -> String {
    "give --\(channel.descriptorOption) N or --\(channel.fileOption) PATH"
  }
}

extension Invocation {
  var mayPrompt: Bool { !has("no-input") && text("prompt") != "none" }
}

/// Ends the process as the signal would have without a prompt.
func endBySignal(_ number: Int32) -> Never {
  signal(number, SIG_DFL)
  _ = raise(number)
  exit(128 + number)
}
