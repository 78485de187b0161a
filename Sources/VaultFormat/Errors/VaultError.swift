/// What went wrong, and how to recover.
///
/// The set of codes is open, so that a new code breaks no program. An error never carries a secret or a part of one.
public struct VaultError: Error, Sendable {
  /// The kind of failure.
  public let code: Code
  /// One line for a person, without a final period.
  public let message: String
  /// What to do next, or `nil` when the message says it.
  public let advice: Hint?
  /// How many attempts are left before a block, where attempts are counted and limited.
  public let attemptsLeft: Int?
  /// How long to wait before another attempt is accepted.
  public let retryAfter: Duration?
  /// The code of the C library or the kernel behind the failure, where there is one.
  public let underlying: Int32?
  /// How the prompt ended, if there was one and the person did not simply cancel it.
  package let promptOutcome: PromptOutcome?

  package init(
    _ code: Code, _ message: String, hint: Hint? = nil, attemptsLeft: Int? = nil,
    retryAfter: Duration? = nil, underlying: Int32? = nil, prompt: PromptOutcome? = nil
  ) {
    self.code = code
    self.message = message
    advice = hint
    self.attemptsLeft = attemptsLeft
    self.retryAfter = retryAfter
    self.underlying = underlying
    promptOutcome = prompt
  }

  /// What to do next in the words of the library, one line, or `nil` when the message says it.
  public var hint: String? { advice?.sentence }

  /// A way to recover.
  public enum Recovery: Sendable, Equatable {
    /// The same call may succeed later: after this duration, if it is known.
    case retry(after: Duration?)
    /// The operation must start over with other input.
    case startOver
    /// The program can do nothing; the reason is for a person.
    case none(String)
  }

  /// How to recover from this failure.
  public var recovery: Recovery {
    switch code {
    case .lockedOut, .busy: .retry(after: retryAfter)
    case .locked, .authenticationFailed, .cancelled, .interactionNotAllowed, .verificationNeeded, .malformed,
      .duplicateItem,
      .itemNotFound, .outOfStep, .policy, .expired:
      .startOver
    default: .none(hint ?? message)
    }
  }
}

extension VaultError {
  /// An open set of failure kinds; the raw value is the word used in JSON.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number or word in the file.
    public let rawValue: String
    /// A value of this number or word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No item matches.
    public static let itemNotFound = Code(rawValue: "itemNotFound")
    /// An item with the same name or the same primary attributes exists.
    public static let duplicateItem = Code(rawValue: "duplicateItem")
    /// The vault is locked: the passcode is needed first.
    public static let locked = Code(rawValue: "locked")
    /// A wrong passcode, code or PIN.
    public static let authenticationFailed = Code(rawValue: "authenticationFailed")
    /// Too many failures: see `retryAfter`.
    public static let lockedOut = Code(rawValue: "lockedOut")
    /// A person cancelled a prompt.
    public static let cancelled = Code(rawValue: "cancelled")
    /// A prompt is needed, but it is not allowed or not possible.
    public static let interactionNotAllowed = Code(rawValue: "interactionNotAllowed")
    /// The item's access rule asks for a person, and the call cannot ask: use one that takes a context.
    public static let verificationNeeded = Code(rawValue: "verificationNeeded")
    /// An existing source does not work: a broken PAM module, a reader that was unplugged, a pinentry that answers
    /// nonsense. Always a denial.
    public static let verificationUnavailable = Code(rawValue: "verificationUnavailable")
    /// The item has expired or was used up.
    public static let expired = Code(rawValue: "expired")
    /// A rule of the vault refuses it.
    public static let policy = Code(rawValue: "policy")
    /// The vault file, or this item, was altered or is broken.
    public static let damaged = Code(rawValue: "damaged")
    /// The protector has no such device key.
    public static let deviceKeyAbsent = Code(rawValue: "deviceKeyAbsent")
    /// The protector is locked.
    public static let deviceKeyLocked = Code(rawValue: "deviceKeyLocked")
    /// The protector cannot be reached.
    public static let deviceKeyUnavailable = Code(rawValue: "deviceKeyUnavailable")
    /// The device key belongs to another vault or another time.
    public static let deviceKeyWrong = Code(rawValue: "deviceKeyWrong")
    /// What the protector holds is not a device key.
    public static let deviceKeyDamaged = Code(rawValue: "deviceKeyDamaged")
    /// A value given by the caller has the wrong form.
    public static let malformed = Code(rawValue: "malformed")
    /// Reading or writing failed: permissions, disk, memory.
    public static let io = Code(rawValue: "io")
    /// The disk failed during a commit: the change may have been stored, and may appear only after a crash. A one-time
    /// password that was not shown for this reason is skipped, never repeated.
    public static let unconfirmed = Code(rawValue: "unconfirmed")
    /// The vault is read-only here.
    public static let readOnly = Code(rawValue: "readOnly")
    /// Other processes held the vault for too long.
    public static let busy = Code(rawValue: "busy")
    /// There is no vault at that path.
    public static let vaultMissing = Code(rawValue: "vaultMissing")
    /// Something is at that path already.
    public static let vaultExists = Code(rawValue: "vaultExists")
    /// Another file is at a path that the operation needs.
    public static let fileExists = Code(rawValue: "fileExists")
    /// The vault was written by a newer version.
    public static let newerFormat = Code(rawValue: "newerFormat")
    /// The vault was made before the first release; released versions do not open it.
    public static let olderFormat = Code(rawValue: "olderFormat")
    /// This version cannot do it.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A counter may be behind its server: resynchronize first.
    public static let outOfStep = Code(rawValue: "outOfStep")
  }
}
