import VaultFormat

/// A request to a person, and the effect of an answer. A prompt shows all of its texts.
///
/// The texts come from items and callers. A prompt removes control characters and visibly shortens texts that are too
/// long; ``text`` alone is shown as it is, and whole.
public struct PromptRequest: Sendable, Equatable {
  /// The subject of a request.
  @nonexhaustive
  public enum Subject: Sendable, Equatable, CustomStringConvertible {
    /// The vault's passcode.
    case passcode
    /// The application password of one item.
    case applicationPassword
    /// The phrase of a member of the enrolled set.
    case phrase
    /// That a person is there (PAM).
    case presence
    /// A finger on the reader.
    case finger
    /// Yes or no.
    case confirmation
    /// The PIN of an item: digits.
    case pin
    /// A new PIN, which is typed twice.
    case newPIN
    /// The code of another system, which a person copies: digits.
    case code
    /// Whether the person accepts the transaction whose ``PromptRequest/text`` is shown.
    case transaction

    /// The name of the subject for people: "passcode".
    public var description: String { words }
  }

  /// The program that asks.
  public struct Requester: Sendable, Equatable {
    /// Its process id.
    public var processID: Int32
    /// The path of its executable; nil if the kernel does not reveal it.
    public var executable: String?
    /// The name that it gives itself; nil if its executable is known, which says more.
    package var name: String?
    /// The programs that have started it, the nearest first.
    package var parents: [Requester] = []
    /// The unit of systemd in which it runs, as far as its user cannot choose it; nil if it runs in none.
    package var unit: String?
    /// The unit below that, which a program of the user can choose.
    package var ownUnit: String?
    /// The process through which it asks, which it has started; nil if it asks by itself.
    package var command: Requester? {
      get { started.first }
      set { started = newValue.map { [$0] } ?? [] }
    }
    /// At most one; an array, because a value cannot contain itself.
    private var started: [Requester] = []

    /// A program that the kernel does not show: hidden, or gone. No process has the number 0.
    package static var unknown: Requester { Requester(processID: 0, executable: nil) }

    /// The program of a process.
    public init(processID: Int32, executable: String?) {
      self.processID = processID
      self.executable = executable
    }

    init(_ caller: Caller) {
      self.init(
        processID: Int32(truncatingIfNeeded: caller.process),
        executable: caller.executable.isEmpty ? nil : caller.executable)
    }
  }

  /// The subject of a request.
  public var subject: Subject
  /// The operation, as a verb phrase: "read the password".
  public var operation: String
  /// The name of the item; nil when the request is about the whole vault.
  public var label: String?
  /// The reason in the caller's words; nil if the caller gives none.
  public var reason: String?
  /// The program that asks; nil if it is this one and the person knows it.
  public var requester: Requester?
  /// What was wrong with the previous answer: "wrong passcode, 3 tries before a delay".
  public var problem: String?
  /// Which secret is asked for: "phrase of right hand", or the words of a source that asks through this prompt. If
  /// nil, the prompt uses its own name for the subject.
  public var question: String?
  /// How many answers are judged at this prompt, including this one; nil if answers are not judged.
  public var triesLeft: Int?
  /// What may answer in place of the subject: the PIN, after failures of a biokey. An empty answer chooses it, and so does
  /// a fingerprint reader that throws `.cancelled`. Empty if nothing else may.
  public var alternatives: [Subject] = []
  /// The effect of an empty answer, as a verb: "cancels". nil if nothing is typed.
  public var emptyAnswer: String?
  /// A text that the person must see whole before the answer, such as the data that is about to be signed; nil if there
  /// is none. A prompt shows all of it, in pages where it is long, and never cuts or escapes it.
  public var text: ShownText?
  /// Whether the answer is no secret, and shows while it is typed. A pinentry shows no answer.
  package var echoes = false
  /// Ends the prompt when the answer is no longer wanted; nil if the caller waits in any case.
  package var ending: PromptEnding?

  /// A request. Parts that are nil are not shown.
  public init(
    _ subject: Subject, operation: String, label: String? = nil, reason: String? = nil,
    requester: Requester? = nil, problem: String? = nil
  ) {
    self.subject = subject
    self.operation = operation
    self.label = label
    self.reason = reason
    self.requester = requester
    self.problem = problem
  }

  /// Whether the answer is no longer wanted: the call was cancelled, its context was invalidated, or the vault was
  /// locked. A prompt that serves several calls at once sees here which of its requests ``Prompt/cancel()`` ends.
  public var isCancelled: Bool { ending?.isEnded ?? false }
}

extension PromptRequest.Subject {
  /// The name of the subject in messages.
  var words: String {
    switch self {
    case .passcode: "passcode"
    case .applicationPassword: "application password"
    case .phrase: "phrase of a member"
    case .presence: "presence of a person"
    case .finger: "finger of a member"
    case .confirmation: "consent"
    case .pin: "PIN"
    case .newPIN: "new PIN"
    case .code: "code"
    case .transaction: "acceptance of the transaction"
    }
  }

  /// The name of the subject in the log.
  var secret: SecretName {
    switch self {
    case .passcode: .passcode
    case .applicationPassword: .applicationPassword
    case .phrase: .phrase
    case .presence: .login
    case .finger: .finger
    case .pin: .pin
    case .newPIN: .newPIN
    case .code: .code
    // No access rule asks for a yes or a no.
    case .confirmation, .transaction:
      preconditionFailure("PromptRequest.Subject: a confirmation is no secret")
    }
  }

  /// The effect of an empty answer; nil if nothing is typed.
  var emptyAnswer: String? {
    switch self {
    case .passcode, .applicationPassword, .pin, .newPIN, .code: "cancels"
    case .phrase: "skips it"
    case .presence: "counts as an answer"
    case .finger, .confirmation, .transaction: nil
    }
  }
}
