package import CommandLineKit
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
  ///   - purpose: What happens with it, as the prompt says it; nil for what happens as a rule.
  ///   - problem: What was wrong with the answer before, which a prompt shows.
  ///   - triesLeft: How many answers are judged, this one included.
  /// - Throws: exit 6 when it would have to be asked for and may not, 5 when the person declines, 12 when
  ///   it is malformed, 13 when its file is not private.
  package func secret(
    _ channel: SecretChannel, isNew: Bool = false, to purpose: String? = nil, problem: String? = nil,
    triesLeft: Int? = nil
  ) throws(CommandError) -> SecretBytes {
    if let given = try given(channel) { return given }
    var request = request(to: purpose ?? channel.purpose(isNew: isNew), channel.shownTitle(isNew: isNew))
    request.problem = problem
    request.triesLeft = triesLeft
    request.emptyAnswer = isNew ? "is refused" : "cancels"
    let typed = try ask(channel.title, request, limit: SecretReading.longestPhrase, twice: isNew, channel)
    guard isNew || typed.byteCount > 0 else { throw Self.cancelled(channel.title) }
    return try Self.checkTyped(typed, channel)
  }

  /// As ``secret(_:isNew:to:problem:triesLeft:)``, but the person may give an empty answer: `nil`.
  ///
  /// - Parameter emptyAnswer: What that does, as a verb.
  func answer(
    _ channel: SecretChannel, to purpose: String, emptyAnswer: String
  ) throws(CommandError) -> SecretBytes? {
    if let given = try given(channel) { return given }
    var request = request(to: purpose, channel.shownTitle(isNew: false))
    request.emptyAnswer = emptyAnswer
    let typed = try ask(channel.title, request, limit: SecretReading.longestPhrase, twice: false, channel)
    return typed.byteCount == 0 ? nil : try Self.checkTyped(typed, channel)
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
      return try SecretFile.read(path, of: channel)
    }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else {
      return nil
    }
    return try SecretFile.credential(folder + "/vaultctl.passcode", named: channel.title)
  }

  /// Whether ``secret(_:isNew:to:problem:triesLeft:)`` would ask a person.
  func willAsk(_ channel: SecretChannel) -> Bool {
    if invocation.has(channel.descriptorOption) || invocation.has(channel.fileOption) { return false }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else { return true }
    // One that cannot be looked at is not asked for either: reading it says why.
    return (try? FilePlace.exists(folder + "/vaultctl.passcode")) == false
  }

  /// Whether ``data(_:to:limit:)`` and ``line(_:to:twice:)`` would ask a person.
  var asksForData: Bool { world.batchInput == nil && isatty(world.standardInput) == 1 }

  /// Data from standard input, byte for byte; on a terminal it is asked for without echo.
  ///
  /// - Parameter purpose: What happens with it, as the prompt says it.
  package func data(
    _ what: String, to purpose: String, limit: Int = SecretReading.longestSecret
  ) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, purpose, twice: true) { return typed }
    return try SecretReading.all(of: world.standardInput, limit: limit, named: what)
  }

  /// A line from standard input, one newline dropped.
  package func line(_ what: String, to purpose: String, twice: Bool) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, purpose, twice: twice) { return SecretReading.droppingNewline(typed) }
    let bytes = try SecretReading.all(
      of: world.standardInput, limit: SecretReading.longestSecret, named: what)
    return SecretReading.droppingNewline(bytes)
  }
}

extension Secrets {
  /// What a batch handed over, or what a person types; nil when standard input is neither.
  private func typedInput(
    _ what: String, _ purpose: String, twice: Bool
  ) throws(CommandError) -> SecretBytes? {
    if let batch = world.batchInput {
      guard let box = batch.secret else {
        throw .malformed("\"stdin\" or \"stdinBase64\" is missing: the \(what)")
      }
      return box.expose { SecretBytes(copying: $0) }
    }
    guard isatty(world.standardInput) == 1 else { return nil }
    var request = request(to: purpose, what)
    request.emptyAnswer = "is refused"
    return try ask(what, request, limit: Terminal.longestLine, twice: twice, nil)
  }

  private func request(to purpose: String, _ question: String) -> PromptRequest {
    var request = PromptRequest(.passcode, operation: "\(action): \(purpose)")
    request.question = question
    return request
  }

  /// - Parameter channel: What could give it instead; nil for standard input.
  private func ask(
    _ what: String, _ request: PromptRequest, limit: Int, twice: Bool, _ channel: SecretChannel?
  ) throws(CommandError) -> SecretBytes {
    let hint = channel.map(alternatives) ?? "give it on standard input, through a pipe or a file"
    guard invocation.mayPrompt else {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and asking is switched off", hint: hint)
    }
    let first = try read(what, request, limit, hint)
    guard twice else { return first }
    var again = request
    again.question = request.question.map { $0 + " again" }
    let second = try read(what, again, limit, hint, isRepeated: true)
    guard first.isEqualInConstantTime(to: second) else {
      throw CommandError(
        .malformed, "the two entries of the \(what) differ", hint: "nothing was changed; try again",
        prompt: .answered)
    }
    return first
  }

  /// From the terminal, else from pinentry, as `--prompt` says.
  private func read(
    _ what: String, _ request: PromptRequest, _ limit: Int, _ hint: String, isRepeated: Bool = false
  ) throws(CommandError) -> SecretBytes {
    let chosen = invocation.text("prompt") ?? "auto"
    guard chosen != "pinentry" else { return try readPinentry(what, request, hint, insteadOf: nil) }
    do throws(TerminalError) {
      return try TerminalPrompt(path: world.terminalPath).type(request, limit: limit, isRepeated: isRepeated)
    } catch {
      switch error {
      case .noTerminal, .background, .inUse:
        guard chosen == "auto" else { throw Self.nobody(what, error, hint) }
        return try readPinentry(what, request, hint, insteadOf: error)
      case .noLock: throw Self.nobody(what, error, hint)
      case .busy: throw CommandError(.cancelled, "another prompt stayed open: the \(what) was not asked for")
      case .cancelled: throw Self.cancelled(what)
      case .timedOut:
        throw CommandError(.cancelled, "nobody answered the prompt for the \(what)", prompt: .timeout)
      case .tooLong(let limit): throw Self.refused(SecretReading.tooLong(what, limit))
      case .signalled:
        throw CommandError(.cancelled, "a signal ended the prompt for the \(what)", prompt: .signal)
      }
    }
  }

  /// - Parameter obstacle: Why the terminal did not ask, where it was tried first.
  private func readPinentry(
    _ what: String, _ request: PromptRequest, _ hint: String, insteadOf obstacle: TerminalError?
  ) throws(CommandError) -> SecretBytes {
    let found: Pinentry
    do throws(Pinentry.Absence) {
      found = try Pinentry.find(terminalPath: world.terminalPath) { world.environment[$0] }
    } catch {
      if let obstacle { throw Self.nobody(what, obstacle, hint) }
      let why = VaultError(absence: error)
      throw Self.nobody(what, why.message, CommandError(why).hint ?? hint)
    }
    do throws(VaultError) { return try PinentryPrompt(found).readSecret(request) } catch {
      throw CommandError(error)
    }
  }

  private static func cancelled(_ what: String) -> CommandError {
    CommandError(.cancelled, "cancelled at the prompt for the \(what)", prompt: .cancelled)
  }

  private static func checkTyped(
    _ typed: consuming SecretBytes, _ channel: SecretChannel
  ) throws(CommandError) -> SecretBytes {
    do throws(CommandError) { return try SecretReading.checkPhrase(typed, named: channel.title) } catch {
      throw refused(error)
    }
  }

  /// A person answered, and the answer is none that can be judged.
  private static func refused(_ error: CommandError) -> CommandError {
    var error = error
    error.promptEnd = .answered
    return error
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
