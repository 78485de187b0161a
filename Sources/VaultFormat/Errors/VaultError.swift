/// What went wrong, and how to recover.
///
/// The set of codes is open, so that a new code breaks no program. An error never carries a secret or a part of one.
/// Prompts, sources and protectors of other programs throw the same errors: ``init(_:_:hint:attemptsLeft:retryAfter:underlying:)``.
public struct VaultError: Error, Sendable {
  /// The kind of failure.
  public let code: Code
  /// One line for a person, without a final period.
  public let message: String
  /// What to do next, or `nil` when the message says it.
  package private(set) var advice: Hint?
  /// How many more wrong attempts are judged before a delay or a lock, where attempts are counted: for a wrong passcode,
  /// phrase, finger or one-time password. 0 if the delay or the lock has begun; with one-time passwords it begins with
  /// the first wrong one.
  public package(set) var attemptsLeft: Int?
  /// How long to wait before another attempt is accepted.
  public let retryAfter: Duration?
  /// The code of the C library or the kernel behind the failure, where there is one.
  public let underlying: Int32?
  /// How the prompt ended, if there was one and the person did not simply cancel it.
  package let promptOutcome: PromptOutcome?
  /// Whether the same call fails again, whatever its code promises: something was committed, or the configuration is wrong.
  package private(set) var isFinal = false

  /// The same error, after a commit or of a wrong configuration: its recovery is never to call again.
  package func final() -> VaultError {
    var error = self
    error.isFinal = true
    return error
  }

  /// The same error with other advice.
  package func advising(_ hint: Hint?) -> VaultError {
    var error = self
    error.advice = hint
    return error
  }

  /// An error.
  ///
  /// - Parameters:
  ///   - message: One line for a person, without a final period. The audit log can contain it, so it must never contain
  ///     a secret.
  ///   - hint: What to do next, one line without a final period.
  ///   - underlying: The code of a C library or of the kernel.
  public init(
    _ code: Code, _ message: String, hint: String? = nil, attemptsLeft: Int? = nil,
    retryAfter: Duration? = nil, underlying: Int32? = nil
  ) {
    self.init(
      code, message, hint: hint.map { Hint($0) }, attemptsLeft: attemptsLeft, retryAfter: retryAfter,
      underlying: underlying, prompt: nil)
  }

  /// An error with a hint that the tool words with its commands.
  package init(
    _ code: Code, _ message: String, hint: Hint?, attemptsLeft: Int? = nil, retryAfter: Duration? = nil,
    underlying: Int32? = nil
  ) {
    self.init(
      code, message, hint: hint, attemptsLeft: attemptsLeft, retryAfter: retryAfter, underlying: underlying,
      prompt: nil)
  }

  /// An error that says how the prompt ended.
  package init(
    _ code: Code, _ message: String, hint: Hint? = nil, attemptsLeft: Int? = nil,
    retryAfter: Duration? = nil, underlying: Int32? = nil, prompt: PromptOutcome?
  ) {
    self.code = code
    self.message = message
    advice = hint
    self.attemptsLeft = attemptsLeft
    self.retryAfter = retryAfter
    self.underlying = underlying
    promptOutcome = prompt
  }

  /// What to do next, one line without a final period, or `nil` when the message says it.
  public var hint: String? { advice?.sentence }
}

extension VaultError {
  /// An open set of failure kinds; the raw value is the word used in JSON.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    public let rawValue: String
    /// The code of this word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No item matches.
    public static let itemNotFound = Code(rawValue: "itemNotFound")
    /// The item never opens again: the enrolled set has changed since it was stored
    /// (``Constraints/biometryCurrentSet``), or a factor of its rule is gone.
    public static let invalidated = Code(rawValue: "invalidated")
    /// An item with the same name or the same primary attributes exists.
    public static let duplicateItem = Code(rawValue: "duplicateItem")
    /// The vault is locked: the passcode is needed first.
    public static let locked = Code(rawValue: "locked")
    /// A wrong passcode, phrase, finger, code or PIN: see `attemptsLeft`.
    public static let authenticationFailed = Code(rawValue: "authenticationFailed")
    /// The one-time password is right, but it or a later one was accepted before. Not counted as a failure.
    public static let alreadyUsed = Code(rawValue: "alreadyUsed")
    /// Too many wrong one-time passwords: see `retryAfter`.
    public static let lockedOut = Code(rawValue: "lockedOut")
    /// Too many wrong passcodes: none is judged before `retryAfter` is over.
    public static let passcodeDelay = Code(rawValue: "passcodeDelay")
    /// Too many wrong phrases or fingers: biometry is locked until the vault is unlocked with the passcode.
    public static let biometryLocked = Code(rawValue: "biometryLocked")
    /// Too many wrong PINs: only an unlock of the PIN ends it.
    public static let blocked = Code(rawValue: "blocked")
    /// Too many failures of a biokey: it is locked until a right PIN.
    public static let biokeyLocked = Code(rawValue: "biokeyLocked")
    /// A PIN does not have the digits that its policy asks for, or is too common for a new one. Not an attempt.
    public static let pinRefused = Code(rawValue: "pinRefused")
    /// The new PIN is the old one.
    public static let pinReused = Code(rawValue: "pinReused")
    /// A person cancelled a prompt.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The program ended a prompt: the context was invalidated, the task was cancelled, or a signal ended the process.
    public static let appCancelled = Code(rawValue: "appCancelled")
    /// No person answered a prompt in time.
    public static let timedOut = Code(rawValue: "timedOut")
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
    /// The name that was given for a new file belongs to another file, which would destroy or misread it: `v-wal` beside the vault `v`.
    public static let sideFile = Code(rawValue: "sideFile")
    /// The vault was written by a newer version.
    public static let newerFormat = Code(rawValue: "newerFormat")
    /// The vault was made before the first release; released versions do not open it.
    public static let olderFormat = Code(rawValue: "olderFormat")
    /// This version cannot do it.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A counter may be behind its server, or codes were made for too long without it: synchronize first.
    public static let outOfStep = Code(rawValue: "outOfStep")
    /// The credential or the transaction is not in a state in which that can be done.
    public static let wrongState = Code(rawValue: "wrongState")
    /// There is no answer from the server: no network, or a transport that fails.
    public static let network = Code(rawValue: "network")
    /// The server does not know this device or credential.
    public static let deviceUnknown = Code(rawValue: "deviceUnknown")
    /// The server refused it, for a reason that has no code of its own.
    public static let peerFailed = Code(rawValue: "peerFailed")
  }
}
