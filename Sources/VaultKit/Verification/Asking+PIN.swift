import SecretMemory
import VaultFormat
package import VaultKeys

extension VaultCore {
  /// Asks for a PIN, and lends it to `use`: the PIN that the context was given, the one of the prompt's channel, or what a
  /// person types. Runs on a thread that may wait, so `use` may derive a key.
  ///
  /// A person is asked at most three times. `use` throws ``VaultError/Code/authenticationFailed``,
  /// ``VaultError/Code/pinRefused`` or ``VaultError/Code/pinReused`` if the person may type another PIN, and with no
  /// attempts left if not.
  ///
  /// - Parameter use: Judges or uses the PIN. Its second argument says how the PIN was given; `use` logs its notes in the
  ///   commit of the verdict. Before that, it must have committed nothing that only a right PIN permits.
  /// - Throws: What `use` throws; ``VaultError/Code/pinRefused`` before `use` for anything but digits, which is no attempt
  ///   and leaves no trace if no person was asked; ``VaultError/Code/malformed`` if a PIN that is typed twice differs;
  ///   ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/cancelled``.
  package func askingPIN<R>(
    _ request: PINRequest, context: AuthenticationContext?,
    use: (borrowing PIN, Shown) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var asking = Asking(
      context: context, operation: .use, environment: environment,
      validity: CallValidity(self, context: context)
    ) { self.logWherePossible($0) }
    asking.action = request.action
    asking.item = request.item
    asking.label = request.label
    var isUsed = false
    do throws(VaultError) {
      return try asking.pin(request) { (pin, shown) throws(VaultError) in
        isUsed = true
        return try use(pin, shown)
      }
    } catch {
      // `use` has logged its verdict. A malformed PIN that nobody typed was neither a prompt nor an attempt.
      let isMalformed = error.code == .pinRefused || error.code == .malformed
      if isUsed {
        logWherePossible(asking.notes)
      } else if !isMalformed || error.promptEnd != nil {
        logDenial(asking.notes, of: request.item, error: error)
      }
      throw error
    }
  }
}

extension Asking {
  /// As ``VaultCore/askingPIN(_:context:use:)``. Notes that are left belong to prompts that ended without an answer.
  fileprivate mutating func pin<R>(
    _ request: PINRequest, use: (borrowing PIN, Shown) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard let context, !context.memory.isInvalid else {
      throw context == nil ? nobodyToAsk(request.subject) : CallValidity.ended
    }
    validity.call?.endUse()
    if let given = context.memory.given(request.subject) {
      do throws(VaultError) {
        return try use(PIN(given.bytes.copy(), policy: request.policy), shown(.given))
      } catch {
        if error.code == .authenticationFailed { context.memory.drop(request.subject) }
        throw error
      }
    }
    guard context.interaction == .allowed, let prompt = context.prompt else {
      throw nobodyToAsk(request.subject)
    }
    if let given = try prompt.givenSecret(for: self.request(request, problem: nil, round: 0)) {
      return try use(PIN(given, policy: request.policy), shown(.given))
    }
    return try typed(request, at: prompt, use: use)
  }

  private mutating func typed<R>(
    _ request: PINRequest, at prompt: any Prompt, use: (borrowing PIN, Shown) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var problem: VaultError?
    for round in 0..<Self.tries {
      do throws(VaultError) {
        let pin = try typed(self.request(request, problem: problem, round: round), request, at: prompt)
        return try use(pin, shown(.typed))
      } catch {
        // If the prompt cannot ask again, report that the earlier answer was wrong.
        if let problem, error.code == .interactionNotAllowed { throw problem }
        guard Self.mayBeTypedAgain.contains(error.code), error.attemptsLeft != 0 else { throw error }
        problem = error
        // The process may be killed at the next prompt.
        write(notes)
        notes = []
      }
    }
    throw problem!
  }

  /// A PIN as a person types it, twice where the request says so. A prompt without a PIN is noted.
  private mutating func typed(
    _ question: PromptRequest, _ request: PINRequest, at prompt: any Prompt
  ) throws(VaultError) -> PIN {
    do throws(VaultError) {
      let first = try read(question, at: prompt)
      guard first.byteCount > 0 else { throw declined() }
      let pin = try Self.pin(first, request.policy)
      guard request.isTypedTwice else { return pin }
      var again = question
      again.text = nil
      again.problem = nil
      again.question = (question.question ?? request.subject.words) + " again"
      let second = try read(again, at: prompt)
      guard pin.bytes.isEqualInConstantTime(to: second) else {
        throw VaultError(.malformed, "the two PINs differ", hint: "nothing was changed; try again")
      }
      return pin
    } catch {
      throw unanswered(request.subject.secret, error)
    }
  }

  private static func pin(
    _ answer: consuming SecretBytes, _ policy: PINPolicy
  ) throws(VaultError) -> PIN {
    do throws(VaultError) { return try PIN(answer, policy: policy) } catch {
      throw VaultError(error.code, error.message, prompt: .answered)
    }
  }

  /// How the PIN was given, with what happened before it.
  private mutating func shown(_ shown: Shown) -> Shown {
    var shown = shown
    shown.item = item
    shown.earlier = notes
    notes = []
    return shown
  }

  private func request(_ pin: PINRequest, problem: VaultError?, round: Int) -> PromptRequest {
    let left = pin.attemptsLeft.map { max(1, min($0, Self.tries) - round) }
    var request = request(pin.subject, problem: problem, triesLeft: left)
    request.question = pin.question
    if problem == nil { request.problem = pin.problem }
    // The prompt ends long before the PIN is blocked.
    if let problem, let left = problem.attemptsLeft {
      request.problem = "\(problem.message), \(left) \(left == 1 ? "attempt" : "attempts") left"
    }
    return request
  }

  private static let mayBeTypedAgain: Set<VaultError.Code> = [.authenticationFailed, .pinRefused, .pinReused]
}
