/// What a person is asked for, and what happens when she answers: a prompt shows all of it.
///
/// The texts come from items and callers. Whoever shows them removes control characters and cuts visibly
/// what is too long.
public struct PromptRequest: Sendable, Equatable {
  /// What is asked for.
  public enum Subject: Sendable, Equatable {
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
  }

  /// The program that asks.
  public struct Requester: Sendable, Equatable {
    /// Its process id.
    public var processID: Int32
    /// The path of its executable; nil where the kernel does not tell.
    public var executable: String?

    /// The program of a process.
    public init(processID: Int32, executable: String?) {
      self.processID = processID
      self.executable = executable
    }
  }

  /// What is asked for.
  public var subject: Subject
  /// What is about to happen, as a verb phrase: "read the password".
  public var operation: String
  /// The name of the item; nil when the request is about the whole vault.
  public var label: String?
  /// Why the caller wants it, in her words; nil when she gives no reason.
  public var reason: String?
  /// The program that asks; nil when it is this one and nobody needs to be told.
  public var requester: Requester?
  /// What went wrong with the answer before this one: "wrong passcode, 3 tries before a delay".
  public var problem: String?
  /// Which secret is asked for: "phrase of right hand", or the words of a source that asks through this prompt. Nil for
  /// the name that a prompt has for the subject.
  public var question: String?
  /// How many answers are judged at this prompt, this one included; nil where nothing is judged.
  public var triesLeft: Int?
  /// What an empty answer does, as a verb: "cancels". Nil where nothing is typed.
  public var emptyAnswer: String?

  /// A request; what is nil is not shown.
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
}
