import SecretMemory
import VaultCrypto

/// The asking side of a verification: what a context was given, may ask for and keeps, for one operation.
///
/// It knows prompts and no keys of the vault: ``Authentication`` judges what was typed.
struct Asking {
  let context: AuthenticationContext?
  /// The session of its begin: a lock in the middle of it makes everything that was shown worth nothing.
  let session: UInt64
  /// What has to be logged with the operation, or with its denial.
  private(set) var notes: [AuditNote] = []
  /// The item looked at last.
  var item: Item?
  /// Somebody declined, or could not be asked: something else may be asked for.
  var isDeclined = false
  let operation: ItemOperation
  private let environment: VaultEnvironment
  /// The names of the members who may type a phrase.
  var members: [String] = []
  /// The name of an item that is not stored yet.
  private var label: String?

  /// How often a person is asked for one thing.
  private static let tries = 3

  init(
    _ context: AuthenticationContext?, _ operation: ItemOperation, _ environment: VaultEnvironment,
    session: UInt64
  ) {
    self.context = context
    self.operation = operation
    self.environment = environment
    self.session = session
  }

  /// The key of an application password that is set now: asked for twice.
  mutating func newPassword(for new: NewItem) throws(VaultError) -> PasswordKey {
    label = new.attributes[.name]
    let derivation = try KeyDerivation.fresh(environment.parameters, random: environment.random)
    guard let context, !context.memory.isInvalid else {
      throw context == nil ? nobodyToAsk(.applicationPassword) : Self.cancelled
    }
    if let given = context.memory.given(.applicationPassword) {
      return PasswordKey(try derivation.derive(from: given.key, environment), derivation)
    }
    guard context.interaction == .allowed, let prompt = context.prompt else {
      throw nobodyToAsk(.applicationPassword)
    }
    var request = request(.applicationPassword, problem: nil)
    request.question = "new application password"
    request.emptyAnswer = "is refused"
    let first = try ApplicationPassword(prompt.readSecret(request))
    request.question = "new application password again"
    let second = try prompt.readSecret(request)
    guard !context.memory.isInvalid else { throw Self.cancelled }
    guard first.bytes.isEqualInConstantTime(to: second) else {
      throw VaultError(
        .malformed, "the two application passwords differ", hint: "nothing was stored; try again")
    }
    return PasswordKey(try derivation.derive(from: first.bytes, environment), derivation)
  }

  // MARK: Questions

  /// Tries what was given in advance, or asks, a few times at most. `judge` throws `.authenticationFailed` for a wrong one.
  ///
  /// - Parameter left: How many wrong answers are judged before there is a delay or a lock.
  mutating func typed<R>(
    _ subject: PromptRequest.Subject, left: Int = .max,
    _ judge: (borrowing SecretBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard let context, !context.memory.isInvalid else {
      throw context == nil ? nobodyToAsk(subject) : Self.cancelled
    }
    if let given = context.memory.given(subject) {
      do throws(VaultError) { return try judge(given.key) } catch {
        if error.code == .authenticationFailed { context.memory.drop(subject) }
        throw error
      }
    }
    guard context.interaction == .allowed, let prompt = context.prompt else { throw nobodyToAsk(subject) }
    var problem: VaultError?
    for round in 0..<Self.tries {
      do throws(VaultError) {
        let left = max(1, min(left, Self.tries) - round)
        let answer = try prompt.readSecret(request(subject, problem: problem, triesLeft: left))
        guard !context.memory.isInvalid else { throw Self.cancelled }
        guard answer.byteCount > 0 else { throw declined() }
        guard answer.isTypable else {
          throw VaultError(.malformed, "the \(subject.words) is 1 to 1,024 bytes without NUL")
        }
        let result = try judge(answer)
        note(subject, result: 0)
        return result
      } catch {
        // Whoever cannot ask a second time says so: the first answer was wrong.
        if let problem, error.code == .interactionNotAllowed { throw problem }
        note(subject, result: error.auditResult)
        guard error.code == .authenticationFailed || error.code == .malformed, error.retryAfter == nil else {
          throw error
        }
        problem = error
      }
    }
    throw problem!
  }

  /// A context that was invalidated meanwhile opens nothing, whatever was shown.
  func refuseInvalid() throws(VaultError) {
    guard context?.memory.isInvalid != true else { throw Self.cancelled }
  }

  mutating func declined() -> VaultError {
    isDeclined = true
    return Self.cancelled
  }

  func request(
    _ subject: PromptRequest.Subject, problem: VaultError?, triesLeft: Int? = nil
  ) -> PromptRequest {
    let caller = environment.caller
    let reason = context?.reason ?? ""
    var request = PromptRequest(
      subject, operation: operation.words, label: item.map { $0.name ?? $0.id.hexadecimal } ?? label,
      reason: reason.isEmpty ? nil : reason,
      requester: .init(processID: Int32(truncatingIfNeeded: caller.process), executable: caller.executable),
      problem: problem?.message)
    request.triesLeft = triesLeft
    request.emptyAnswer = subject.emptyAnswer
    if subject == .phrase { request.question = Self.phrase(of: members) }
    return request
  }

  /// "phrase of right hand", with at most three names.
  private static func phrase(of members: [String]) -> String {
    let names = members.prefix(3).joined(separator: " or ")
    return "phrase" + (names.isEmpty ? "" : " of \(names)")
      + (members.count > 3 ? " or \(members.count - 3) others" : "")
  }

  mutating func note(_ subject: PromptRequest.Subject, result: UInt16) {
    notes.append(
      AuditNote(
        operation: .promptShown, item: item?.id, kind: item?.kind, result: result, detail: subject.words))
  }

  func nobodyToAsk(_ subject: PromptRequest.Subject) -> VaultError {
    VaultError(
      .interactionNotAllowed, "the \(subject.words) is needed, and there is nobody to ask",
      hint: "give it in advance, or allow a prompt")
  }

  static var cancelled: VaultError { VaultError(.cancelled, "cancelled at the prompt") }

  // MARK: Reuse

  var kept: [ContextMemory.Kept] {
    guard let context else { return [] }
    return context.memory.kept(
      session: session, clock: environment.clock, reuse: context.reuse)
  }

  func keep(_ shown: ContextMemory.Kept.Shown) {
    guard let context, context.reuse > 0 else { return }
    let clock = environment.clock
    context.memory.keep(
      ContextMemory.Kept(
        shown: shown, session: session, boot: clock.bootID() ?? [],
        madeAt: clock.bootMilliseconds()))
  }
}

extension PromptRequest.Subject {
  /// What it is called.
  var words: String {
    switch self {
    case .passcode: "passcode"
    case .applicationPassword: "application password"
    case .phrase: "phrase of a member"
    case .presence: "presence of a person"
    case .finger: "finger of a member"
    case .confirmation: "consent"
    }
  }

  /// What an empty answer does; nil where none is typed.
  fileprivate var emptyAnswer: String? {
    switch self {
    case .passcode, .applicationPassword: "cancels"
    case .phrase: "skips it"
    case .presence: "counts as an answer"
    case .finger, .confirmation: nil
    }
  }
}

extension VaultError {
  /// The result in the audit log: the exit code of `vaultctl`.
  var auditResult: UInt16 {
    switch code {
    case .itemNotFound: 1
    case .authenticationFailed, .locked: 3
    case .lockedOut: 4
    case .cancelled: 5
    case .interactionNotAllowed, .verificationNeeded: 6
    case .expired: 7
    case .policy: 9
    case .damaged: 10
    case .malformed: 12
    case .unsupported, .newerFormat, .olderFormat: 15
    default: 13
    }
  }
}
