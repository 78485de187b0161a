package import CommandLineKit
import Glibc
package import SecretMemory
package import VaultKit
import TextPreparation
import VaultPrompts
import VaultWords

/// The sources of a command's secrets: an option, a systemd credential, or a prompt.
package struct Secrets {
  /// The line whose options give secrets and say who asks: that of a batch, for all its commands.
  let invocation: Invocation
  /// The command that runs, whose name and object a prompt shows.
  let command: Invocation
  let world: World
  let known: GivenSecrets

  /// Why the command is run, in the words of whoever runs it; nil if they give none.
  var reason: String? { invocation[CommonOptions.reason] }

  /// The secret of one channel.
  ///
  /// - Parameters:
  ///   - isNew: The secret is new, so a prompt asks for it twice.
  ///   - title: What the prompt calls the secret; nil for the usual name.
  ///   - purpose: The use of the secret, as the prompt states it; nil for the usual one.
  ///   - problem: What was wrong with the previous answer. A prompt shows it.
  ///   - triesLeft: How many answers are judged, including this one.
  ///   - text: What the person must see whole before the answer.
  /// - Throws: exit 6 if a prompt is needed but not allowed, 5 if the person declines, 12 if the secret is malformed,
  ///   13 if its file is not private.
  package func secret(
    _ channel: SecretChannel, isNew: Bool = false, titled title: String? = nil, to purpose: String? = nil,
    problem: String? = nil, triesLeft: Int? = nil, showing text: ShownText? = nil
  ) throws(CommandError) -> SecretBytes {
    if let given = try given(channel) { return given }
    var request = request(
      to: purpose ?? channel.purpose(isNew: isNew), title ?? channel.shownTitle(isNew: isNew))
    request.problem = problem
    request.triesLeft = triesLeft
    request.text = text
    request.emptyAnswer = isNew ? "is refused" : "cancels"
    let typed = try ask(
      channel.title, request: request, limit: TypedSecret.longest, twice: isNew, channel: channel)
    guard isNew || typed.byteCount > 0 else { throw Self.cancelled(channel.title) }
    return try Self.line(typed, channel: channel)
  }

  /// As ``secret(_:isNew:to:problem:triesLeft:)``, but the person may give an empty answer: `nil`.
  ///
  /// - Parameter emptyAnswer: The effect of an empty answer, as a verb.
  func answer(
    _ channel: SecretChannel, to purpose: String, emptyAnswer: String
  ) throws(CommandError) -> SecretBytes? {
    if let given = try given(channel) { return given }
    var request = request(to: purpose, channel.shownTitle(isNew: false))
    request.emptyAnswer = emptyAnswer
    let typed = try ask(
      channel.title, request: request, limit: TypedSecret.longest, twice: false, channel: channel)
    return typed.byteCount == 0 ? nil : try Self.line(typed, channel: channel)
  }

  /// The secret that was given without a prompt, if any. Each channel is read once.
  package func given(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    try known.secret(channel) { () throws(CommandError) in try read(channel) }
  }

  private func read(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    guard let file = try file(of: channel) else { return nil }
    return try world.host.lend(file) { descriptor throws(CommandError) in
      if case .secret(let path, _) = file, SecretInput.isReadableByOthers(descriptor) {
        known.addExposed("the file with the \(channel.title), \(printable(path))")
      }
      return try SecretReading.line(
        from: descriptor, limit: channel.limit ?? TypedSecret.longest, named: channel.title,
        isTrimmed: channel.isCode)
    }
  }

  /// What the secret of a channel is read from without a prompt; nil if nothing gives it.
  private func file(of channel: SecretChannel) throws(CommandError) -> HostFile? {
    if let number = invocation[channel.options.descriptor] { return .descriptor(number) }
    if let file = channel.options.file, let path = invocation[file] {
      if let number = SecretInput.descriptor(named: path) { return .descriptor(number) }
      return .secret(path: path, of: channel)
    }
    guard channel == .passcode, let path = credentialPath, try world.host.exists(path) else { return nil }
    return .credential(path: path, named: channel.title)
  }

  /// Where systemd puts the credential with the passcode; nil if it starts nothing here.
  private var credentialPath: String? { world.environment.credential("vaultctl.passcode") }

  /// Whether ``secret(_:isNew:to:problem:triesLeft:)`` would ask a person.
  func willAsk(_ channel: SecretChannel) -> Bool {
    guard channel.option(in: invocation) == nil else { return false }
    guard channel == .passcode, let path = credentialPath else { return true }
    // If the credential cannot be examined, the person is not asked either: reading it reports the reason.
    return (try? world.host.exists(path)) == false
  }

  /// Whether ``data(_:to:limit:)`` and ``line(_:to:twice:)`` would ask a person.
  var asksForData: Bool { world.batchInput == nil && isatty(world.standardInput) == 1 }

  /// Data from standard input, byte for byte. On a terminal, prompts for it without echo.
  ///
  /// - Parameter purpose: The use of the data, as the prompt states it.
  package func data(
    _ what: String, to purpose: String, limit: Int = SecretReading.longestSecret
  ) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, purpose: purpose, twice: true) { return typed }
    return try SecretReading.all(of: world.standardInput, limit: limit, named: what)
  }

  /// A line that a person types and sees, because it is no secret; `nil` for an empty one.
  ///
  /// - Parameters:
  ///   - question: With what an empty answer does.
  ///   - isFirst: Whether the prompt says what the answers are for.
  func shownLine(
    _ what: String, asking question: String, to purpose: String, isFirst: Bool
  ) throws(CommandError) -> String? {
    var request = request(to: purpose, question)
    request.echoes = true
    let typed = try read(
      what, request: request, limit: TypedSecret.longest, hint: fileAdvice, isRepeated: !isFirst)
    return typed.byteCount == 0 ? nil : typed.expose { String(decoding: $0.array, as: UTF8.self) }
  }

  /// New data that a person types at the terminal, twice; `nil` for an empty answer.
  ///
  /// - Parameters:
  ///   - question: With what an empty answer does.
  ///   - isFirst: Whether the prompt says what the answer is for.
  func typedData(
    _ what: String, asking question: String, to purpose: String, isFirst: Bool
  ) throws(CommandError) -> SecretBytes? {
    try typedTwice(
      what, request: request(to: purpose, question), limit: Terminal.longestLine, hint: fileAdvice,
      isFirst: isFirst,
      mayBeEmpty: true)
  }

  /// Data that is a file, from standard input, byte for byte. Nobody types it, so a terminal is not asked for it.
  func file(
    _ what: String, limit: Int = SecretReading.longestSecret
  ) throws(CommandError) -> SecretBytes {
    guard !asksForData else {
      throw .usage("the \(what) is not typed on a terminal", hint: "give it as a file: \(action) < FILE")
    }
    return try data(what, to: "", limit: limit)
  }

  /// A line from standard input that has no blanks at its ends: those that are there are dropped.
  package func line(
    _ what: String, to purpose: String, limit: Int = SecretReading.longestSecret, twice: Bool
  ) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, purpose: purpose, twice: twice) {
      return try SecretReading.trimmed(typed, named: what)
    }
    return try SecretReading.trimmed(
      SecretReading.all(of: world.standardInput, limit: limit, named: what), named: what)
  }
}

extension Secrets {
  /// The data that a batch passes, or that a person types; nil if standard input is a pipe or a file.
  private func typedInput(
    _ what: String, purpose: String, twice: Bool
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
    let typed = try ask(what, request: request, limit: Terminal.longestLine, twice: twice, channel: nil)
    try refuseKey(typed, what)
    return typed
  }

  /// The first line of a private key is never a whole secret.
  private func refuseKey(_ typed: borrowing SecretBytes, _ what: String) throws(CommandError) {
    guard !typed.expose({ $0.begins(with: "-----BEGIN") }) else {
      throw Self.severalLines(what, hint: fileAdvice)
    }
  }

  /// How data is given by a file.
  private var fileAdvice: String {
    "give it as a file: \(action)\(command[ItemEdit.password] ? " --password" : "") < FILE"
  }

  private func request(to purpose: String, _ question: String) -> PromptRequest {
    var request = PromptRequest(.passcode, operation: "\(action): \(purpose)", reason: reason)
    request.question = question
    return request
  }

  /// - Parameter channel: The channel that could give the secret instead; nil for standard input.
  private func ask(
    _ what: String, request: PromptRequest, limit: Int, twice: Bool, channel: SecretChannel?
  ) throws(CommandError) -> SecretBytes {
    let hint = channel.map(alternatives) ?? fileAdvice
    guard invocation.mayPrompt else {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and asking is switched off", hint: hint)
    }
    guard twice else { return try read(what, request: request, limit: limit, hint: hint) }
    return try typedTwice(what, request: request, limit: limit, hint: hint, mayBeEmpty: false)!
  }

  /// A new secret that a person types twice. Where the entries differ, or where nothing is typed although it must be, it is asked for again.
  ///
  /// - Parameter isFirst: Whether the first question says what the answer is for.
  /// - Returns: `nil` for an empty answer.
  private func typedTwice(
    _ what: String, request: PromptRequest, limit: Int, hint: String, isFirst: Bool = true, mayBeEmpty: Bool
  ) throws(CommandError) -> SecretBytes? {
    var request = request
    for round in 0..<Self.rounds {
      let first = try read(
        what, request: request, limit: limit, hint: hint, isRepeated: !isFirst && round == 0)
      guard first.byteCount > 0 else {
        if mayBeEmpty { return nil }
        request.problem = "an empty \(what) is refused"
        continue
      }
      try refuseKey(first, what)
      var again = request
      again.question = what + " again"
      if let question = request.question, !mayBeEmpty { again.question = question + " again" }
      let second = try read(what, request: again, limit: limit, hint: hint, isRepeated: true)
      if first.isEqualInConstantTime(to: second) { return first }
      request.problem = "the two entries of the \(what) differ"
    }
    throw CommandError(
      .malformed, request.problem ?? "nothing was typed", hint: "nothing was changed; try again",
      prompt: .answered)
  }

  private static let rounds = 3

  /// Reads an answer from the terminal or from pinentry, as `--prompt` says.
  private func read(
    _ what: String, request: PromptRequest, limit: Int, hint: String, isRepeated: Bool = false
  ) throws(CommandError) -> SecretBytes {
    do throws(VaultError) { try world.interruption.yieldToClient() } catch { throw CommandError(error) }
    do throws(PromptFailure) {
      return try prompt.type(request, limit: limit, isRepeated: isRepeated)
    } catch {
      switch error {
      case .terminal(let error): throw Self.unanswered(what, error: error, hint: hint)
      case .pinentry(let error): throw CommandError(error)
      case .nobody(let obstacle?, _): throw Self.nobody(what, obstacle: obstacle, hint: hint)
      case .nobody(nil, let absence):
        let why = VaultError(absence: absence)
        throw Self.nobody(what, why: why.message, hint: CommandError(why).hint ?? hint)
      }
    }
  }

  /// The prompt that `--prompt` selects.
  var prompt: any HostPrompt {
    world.host.prompt(AutomaticPrompt.Way(rawValue: invocation.asking.rawValue) ?? .automatic)
  }

  private static func severalLines(_ what: String, hint: String) -> CommandError {
    refused(.malformed("the \(what) has several lines, so none of it was used", hint: hint))
  }

  private static func unanswered(_ what: String, error: TerminalError, hint: String) -> CommandError {
    switch error {
    case .noTerminal, .background, .inUse, .noLock: nobody(what, obstacle: error, hint: hint)
    case .busy: unanswered("another prompt stayed open: the \(what) was not asked for", as: .timedOut)
    case .cancelled: cancelled(what)
    case .timedOut:
      unanswered("nobody answered the prompt for the \(what)", as: .timedOut, prompt: .timeout)
    case .tooLong(let limit): refused(SecretReading.tooLong(what, limit: limit))
    case .severalLines: severalLines(what, hint: hint)
    case .signalled:
      unanswered("a signal ended the prompt for the \(what)", as: .appCancelled, prompt: .signal)
    }
  }

  private static func unanswered(
    _ message: String, as code: VaultError.Code, prompt: PromptOutcome? = nil
  ) -> CommandError {
    CommandError(.cancelled, message, code: code.rawValue, prompt: prompt)
  }

  private static func cancelled(_ what: String) -> CommandError {
    CommandError(.cancelled, "cancelled at the prompt for the \(what)", prompt: .cancelled)
  }

  /// A typed line, as a channel gives it.
  private static func line(
    _ typed: consuming SecretBytes, channel: SecretChannel
  ) throws(CommandError) -> SecretBytes {
    do throws(CommandError) {
      return try SecretReading.line(typed, named: channel.title, isTrimmed: channel.isCode)
    } catch {
      throw refused(error)
    }
  }

  /// The error for an answer that is malformed, so that it cannot be judged.
  private static func refused(_ error: CommandError) -> CommandError {
    var error = error
    error.promptEnd = .answered
    return error
  }

  private static func nobody(_ what: String, obstacle: TerminalError, hint: String) -> CommandError {
    nobody(what, why: obstacle.obstacle ?? "nobody answered", hint: hint)
  }

  private static func nobody(_ what: String, why: String, hint: String) -> CommandError {
    CommandError(.interactionNotAllowed, "the \(what) is needed, and \(why)", hint: hint)
  }

  /// The command that runs, as the prompt shows it.
  private var action: String {
    let object =
      command[ItemOptions.name] ?? command[Target.id]?.hexadecimal ?? command[Target.account]
    return "vaultctl \(command.verb.name)" + (object.map { " '\($0)'" } ?? "")
  }

  private func alternatives(to channel: SecretChannel) -> String { "give " + channel.options.advice }
}

extension RawSpan {
  fileprivate func begins(with text: String) -> Bool {
    let text = Array(text.utf8)
    return byteCount >= text.count
      && text.indices.allSatisfy { unsafe unsafeLoad(fromByteOffset: $0, as: UInt8.self) == text[$0] }
  }
}
