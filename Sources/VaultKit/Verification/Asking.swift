import VaultFormat
import VaultKeys
import SecretMemory
import TextPreparation
import VaultCrypto

/// The part of a verification that gets secrets, for one operation: those that a context was given or keeps, and
/// those that it prompts for.
///
/// It uses prompts but no keys of the vault: ``Authentication`` judges the answers.
struct Asking {
  let context: AuthenticationContext?
  /// Whether the result is still wanted.
  var validity: CallValidity
  /// Notes to log with the operation or its denial, and not logged yet.
  var notes: [AuditNote] = []
  /// The last item that was examined.
  var item: Item?
  /// Whether a person has answered a prompt or a source.
  private(set) var hasAsked = false
  /// Whether a person has typed a secret that was judged to be right.
  private(set) var hasTyped = false
  /// The person declined or could not be asked. Another factor may still be asked for.
  var isDeclined = false
  let operation: ItemOperation
  /// The operation, as a prompt names it.
  var action: String
  private let environment: VaultEnvironment
  /// Logs at once, if possible.
  let write: ([AuditNote]) -> Void
  /// The names of the members who may type a phrase.
  var members: [String] = []
  /// The name that prompts show; nil for that of the item.
  var label: String?

  /// How many times a person is asked for one secret.
  static let tries = 3

  init(
    context: AuthenticationContext?, operation: ItemOperation, environment: VaultEnvironment,
    validity: CallValidity, write: @escaping ([AuditNote]) -> Void
  ) {
    self.context = context
    self.operation = operation
    action = operation.words
    self.environment = environment
    self.validity = validity
    self.write = write
  }

  /// The key of a new application password. Prompts twice.
  mutating func newPassword(for new: NewItem) throws(VaultError) -> PasswordKey {
    label = new.attributes[.name]
    guard let context, !context.memory.isInvalid else {
      throw context == nil ? nobodyToAsk(.applicationPassword) : CallValidity.ended
    }
    if let given = context.memory.given(.applicationPassword) {
      notes += Shown.given.notes(.newApplicationPassword)
      return try key(from: ApplicationPassword(given.bytes.copy()).typed.prepared.bytes)
    }
    guard context.interaction == .allowed, let prompt = context.prompt else {
      throw nobodyToAsk(.applicationPassword)
    }
    var request = request(.applicationPassword, problem: nil)
    request.question = "new application password"
    request.emptyAnswer = "is refused"
    if let given = try prompt.givenSecret(for: request) {
      notes += Shown.given.notes(.newApplicationPassword)
      return try key(from: ApplicationPassword(given).typed.prepared.bytes)
    }
    do throws(VaultError) {
      let password = try typedTwice(request, at: prompt)
      notes += Shown.typed.notes(.newApplicationPassword)
      return try key(from: password.typed.prepared.bytes)
    } catch {
      throw unanswered(.newApplicationPassword, error)
    }
  }

  private func key(from password: borrowing SecretBytes) throws(VaultError) -> PasswordKey {
    let derivation = try KeyDerivation.fresh(environment.parameters, random: environment.random)
    return PasswordKey(
      try derivation.derive(from: password, as: .newApplicationPassword, in: environment),
      derivation: derivation)
  }

  private func typedTwice(
    _ request: PromptRequest, at prompt: any Prompt
  ) throws(VaultError) -> ApplicationPassword {
    let first = try ApplicationPassword(read(request, at: prompt))
    var request = request
    request.question = "new application password again"
    let second = try read(request, at: prompt)
    // Both come from the same keyboard: other bytes are another answer.
    guard first.typed.given.bytes.isEqualInConstantTime(to: second) else {
      throw VaultError(
        .malformed, "the two application passwords differ", hint: "nothing was stored; try again")
    }
    return first
  }

  // MARK: Questions

  /// Tries the secret that was given in advance, or prompts, a few times at most. `judge` throws
  /// `.authenticationFailed` for a wrong secret.
  ///
  /// - Parameter left: How many wrong answers are judged before a delay or a lock.
  mutating func typed<R>(
    _ subject: PromptRequest.Subject, left: Int = .max,
    judge: (borrowing SecretBytes, Shown) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard let context, !context.memory.isInvalid else {
      throw context == nil ? nobodyToAsk(subject) : CallValidity.ended
    }
    validity.call?.endUse()
    if let given = context.memory.given(subject) {
      do throws(VaultError) {
        return try judged(given.bytes, subject: subject, shown: .given, judge: judge)
      } catch {
        if error.code == .authenticationFailed { context.memory.drop(subject) }
        throw error
      }
    }
    guard context.interaction == .allowed, let prompt = context.prompt else { throw nobodyToAsk(subject) }
    if let given = try prompt.givenSecret(for: request(subject, problem: nil)) {
      return try judged(given, subject: subject, shown: .given, judge: judge)
    }
    let rung = subject == .phrase ? context.rung : nil
    var problem = rung?.problem
    for round in 0..<(rung == nil ? Self.tries : 1) {
      do throws(VaultError) {
        let left = rung == nil ? max(1, min(left, Self.tries) - round) : left
        let answer = try answer(
          to: request(subject, problem: problem, triesLeft: left), at: prompt)
        return try judged(answer, subject: subject, shown: .typed, judge: judge)
      } catch {
        // If the prompt cannot ask again, report that the earlier answer was wrong.
        if let problem, error.code == .interactionNotAllowed { throw problem }
        guard error.code == .authenticationFailed || error.code == .malformed, error.retryAfter == nil else {
          throw error
        }
        problem = error
        // The process may be killed at the next prompt.
        write(notes)
        notes = []
      }
    }
    throw problem!
  }

  /// Asks a person once. A prompt that ends without an answer is noted.
  private mutating func answer(
    to request: PromptRequest, at prompt: any Prompt
  ) throws(VaultError) -> SecretBytes {
    do throws(VaultError) {
      let answer = try read(request, at: prompt)
      hasAsked = true
      guard answer.byteCount > 0 else {
        if request.subject == .phrase { context?.rung?.chooseAlternative() }
        throw declined()
      }
      return answer
    } catch {
      throw unanswered(request.subject.secret, error)
    }
  }

  /// Judges an answer, and notes how it was given. An attempt with the passcode logs this in its own commit.
  private mutating func judged<R>(
    _ answer: borrowing SecretBytes, subject: PromptRequest.Subject, shown: Shown,
    judge: (borrowing SecretBytes, Shown) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var shown = shown
    shown.item = item
    guard subject != .passcode else {
      shown.earlier = notes
      notes = []
      let result = try judge(answer, shown)
      hasTyped = hasTyped || shown.outcome == .answered
      return result
    }
    do throws(VaultError) {
      let result = try judge(answer, shown)
      notes += shown.notes(subject.secret)
      hasTyped = hasTyped || shown.outcome == .answered
      return result
    } catch {
      notes += shown.notes(subject.secret, result: error.auditResult)
      throw error
    }
  }

  func read(_ request: PromptRequest, at prompt: any Prompt) throws(VaultError) -> SecretBytes {
    try whileOpen(request, at: prompt, cancel: prompt.cancel) { request throws(VaultError) in
      try prompt.readSecret(request)
    }
  }

  /// Asks whether the person accepts the text of the context, where there is one: neither a reader nor PAM shows it.
  private func acceptText(at prompt: (any Prompt)?) throws(VaultError) {
    if context?.text != nil { try accept(at: prompt) }
  }

  /// Asks whether the person accepts the transaction.
  func accept(at prompt: (any Prompt)?) throws(VaultError) {
    guard let prompt else { throw nobodyToAsk(.transaction) }
    let isAccepted = try whileOpen(
      request(.transaction, problem: nil), at: prompt, cancel: prompt.cancel
    ) { request throws(VaultError) in try prompt.confirm(request) }
    guard isAccepted else { throw Self.cancelled }
  }

  /// A request to a source, whose text was accepted before.
  private func sourceRequest(_ subject: PromptRequest.Subject) -> PromptRequest {
    var request = request(subject, problem: nil)
    request.text = nil
    return request
  }

  /// The finger that a reader verified; nil if the reader does not say which.
  func finger(
    at source: any BiometrySource, showingOn prompt: (any Prompt)?
  ) throws(VaultError) -> String? {
    try acceptText(at: prompt)
    do throws(VaultError) {
      return try whileOpen(sourceRequest(.finger), at: source, cancel: source.cancel) {
        request throws(VaultError) in
        try source.verify(request) { line in prompt?.show(line, for: request) }
      }
    } catch {
      if error.code == .cancelled { context?.rung?.chooseAlternative() }
      throw error
    }
  }

  /// Returns after a source verified that a person is there.
  func presence(from source: any PresenceSource, throughPrompt prompt: any Prompt) throws(VaultError) {
    try acceptText(at: prompt)
    // The source may ask through the prompt with a request of its own.
    let cancel = { @Sendable in
      source.cancel()
      prompt.cancel()
    }
    try whileOpen(sourceRequest(.presence), at: source, cancel: cancel) {
      request throws(VaultError) in
      try source.verifyPresence(request, asking: prompt)
    }
  }

  /// Lends a request to a prompt or a source. The end of the call, of the context or of the session ends it.
  ///
  /// - Parameter cancel: Ends it, where `source` does not look at the request itself.
  /// - Throws: ``VaultError/Code/busy`` if the caller has too many open prompts.
  func whileOpen<R: ~Copyable>(
    _ request: PromptRequest, at source: any Sendable, cancel: @escaping @Sendable () -> Void,
    _ body: (PromptRequest) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    validity.call?.endUse()
    let (bound, caller) = (validity.core.session.promptBound, validity.core.environment.caller)
    try bound.enter(caller)
    defer { bound.leave(caller) }
    let ending = PromptEnding()
    let owners = [validity.core.prompts, context?.memory.prompts, validity.call?.prompts].compactMap { $0 }
    for owner in owners { owner.add(ending) }
    defer { for owner in owners { owner.remove(ending) } }
    let ticket = source is any EndsWithRequest ? nil : ending.add(cancel)
    defer { if let ticket { ending.remove(ticket) } }
    try refuseInvalid()
    var request = request
    request.ending = ending
    let answer = try body(request)
    try validity.check()
    return answer
  }

  /// Throws, before a person is asked, if the answer would not be wanted.
  func refuseInvalid() throws(VaultError) {
    do throws(VaultError) { try validity.check() } catch {
      throw VaultError(error.code, error.message, hint: error.advice, prompt: .notShown)
    }
  }

  mutating func declined() -> VaultError {
    isDeclined = true
    return Self.cancelled
  }

  func request(
    _ subject: PromptRequest.Subject, problem: VaultError?, triesLeft: Int? = nil
  ) -> PromptRequest {
    let caller = environment.caller ?? environment.process
    let reason = context?.reason ?? ""
    var request = PromptRequest(
      subject, operation: action, label: label ?? item.map { $0.name ?? $0.id.hexadecimal },
      reason: reason.isEmpty ? nil : reason,
      requester: PromptRequest.Requester(caller),
      problem: problem?.message)
    request.triesLeft = triesLeft
    request.emptyAnswer = subject.emptyAnswer
    request.text = context?.text
    if subject == .phrase { request.question = Self.phrase(of: members) }
    guard let rung = context?.rung, subject == .phrase || subject == .finger else { return request }
    request.alternatives = rung.alternatives
    if subject == .phrase {
      request.emptyAnswer = rung.alternatives.isEmpty ? "cancels" : "goes on to the PIN"
    }
    return request
  }

  /// "phrase of right hand", with at most three names.
  private static func phrase(of members: [String]) -> String {
    let names = members.prefix(3).joined(separator: " or ")
    return "phrase" + (names.isEmpty ? "" : " of \(names)")
      + (members.count > 3 ? " or \(members.count - 3) others" : "")
  }

  /// Notes that a person answered a request for which nothing is typed.
  mutating func noteAnswer(_ subject: PromptRequest.Subject) {
    hasAsked = true
    notes += Shown(outcome: .answered, item: item).notes(subject.secret)
  }

  /// Notes a prompt that ended with an error, unless no person was asked.
  ///
  /// - Returns: The error for the caller. A prompt that ended because its context became invalid cannot tell this from a
  ///   person who declined.
  mutating func unanswered(_ secret: SecretName, _ error: VaultError) -> VaultError {
    let isEnded = error.code == .cancelled && (try? validity.check()) == nil
    let error = isEnded ? CallValidity.ended : error
    guard let outcome = error.promptEnd else { return error }
    notes += Shown(outcome: outcome, item: item).notes(secret, result: error.auditResult)
    return error
  }

  func nobodyToAsk(_ subject: PromptRequest.Subject) -> VaultError {
    VaultError(
      .interactionNotAllowed, "the \(subject.words) is needed, and there is nobody to ask",
      hint: "give it in advance, or allow a prompt")
  }

  private static var cancelled: VaultError { VaultError(.cancelled, "cancelled at the prompt") }

  // MARK: Reuse

  /// The verifications that may serve again; none for a text, which the person must see before each answer.
  var kept: [ContextMemory.Kept] {
    guard let context, context.text == nil else { return [] }
    return context.memory.kept(
      for: environment.caller, session: validity.session, clock: environment.clock, reuse: context.reuse)
  }

  func keep(_ shown: ContextMemory.Kept.Shown) {
    guard let context, context.reuse > 0, (try? validity.check()) != nil else { return }
    let moment = VerificationMoment(
      for: environment.caller, session: validity.session, locks: validity.locks, clock: environment.clock)
    context.memory.keep(ContextMemory.Kept(shown: shown, moment: moment))
  }

  // MARK: Grants

  /// Asks for how long the program may do what it was just allowed, and notes an answer that lasts. A prompt that cannot be shown
  /// changes nothing: the person was verified for this use.
  ///
  /// - Throws: ``VaultError/Code/cancelled`` if the person allows nothing.
  mutating func offer(_ grant: StandingGrant) throws(VaultError) {
    guard let grants = context?.grants, let prompt = context?.prompt as? any GrantPrompt else { return }
    let request = request(.confirmation, problem: nil)
    let (name, hasTyped) = (request.label ?? "", hasTyped)
    let answer: GrantAnswer?
    do throws(VaultError) {
      answer = try grants.offer(grant, named: name, afterTyping: hasTyped) { () throws(VaultError) in
        try whileOpen(request, at: prompt, cancel: prompt.cancel) { request throws(VaultError) in
          try prompt.allow(request)
        }
      }
    } catch {
      guard error.code == .interactionNotAllowed else { throw error }
      return
    }
    switch answer {
    case .no: throw Self.cancelled
    case .once, nil: break
    case let lasting?:
      notes.append(
        AuditNote(
          operation: .promptShown, item: item?.id, kind: item?.kind, detail: "grant: \(lasting.typed)",
          outcome: .answered))
    }
  }
}
