import VaultFormat
import VaultKeys
public import SecretMemory
import Synchronization

/// How a person is verified, and for how long that holds. Copies share one authentication.
///
/// ```swift
/// let context = AuthenticationContext(reason: "pay 12 EUR to Anna", prompt: terminal, reuse: .seconds(60))
/// let first = try await vault.secret(of: item, context: context)
/// let second = try await vault.secret(of: other, context: context)   // within a minute: nobody is asked again
/// ```
public struct AuthenticationContext: Sendable {
  /// Whether somebody may be asked.
  public enum Interaction: Sendable {
    /// Prompts may appear.
    case allowed
    /// What would have to ask fails with ``VaultError/Code/interactionNotAllowed`` at once.
    case notAllowed
  }

  /// Why, in the caller's words; prompts show it.
  public let reason: String
  let prompt: (any Prompt)?
  let presence: (any PresenceSource)?
  let biometry: (any BiometrySource)?
  /// In milliseconds of the boot clock.
  let reuse: UInt64
  let interaction: Interaction
  let memory = ContextMemory()

  /// A context.
  ///
  /// - Parameters:
  ///   - prompt: Asks for what is typed; `nil` when only what is given in advance may be used.
  ///   - presence: Finds out whether a person is there (PAM): asked for ``Constraints/userPresence`` where the vault has the
  ///     login password as a member (``Vault/enrollLogin(passcode:)``), before the passcode. Advisory in this process.
  ///   - biometry: A fingerprint reader, asked where the vault has its fingers as members. Advisory in this process.
  ///   - reuse: For how long a verification serves further items and operations, 0 to 300 s; more is taken as 300 s.
  ///     It stays in locked memory until the context is used again, invalidated or gone; a lock of the vault ends its use.
  public init(
    reason: String, prompt: (any Prompt)? = nil, presence: (any PresenceSource)? = nil,
    biometry: (any BiometrySource)? = nil, reuse: Duration = .zero, interaction: Interaction = .allowed
  ) {
    self.reason = reason
    self.prompt = prompt
    self.presence = presence
    self.biometry = biometry
    let (seconds, attoseconds) = reuse.components
    let milliseconds = min(max(seconds, 0), 300) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000
    self.reuse = UInt64(min(milliseconds, 300_000))
    self.interaction = interaction
  }

  /// Gives the passcode in advance: it answers until it turns out to be wrong or the context is invalidated.
  public func provide(_ passcode: consuming Passcode) { memory.give(.passcode, passcode.intoBytes()) }

  /// Gives an application password in advance.
  public func provide(_ password: consuming ApplicationPassword) {
    memory.give(.applicationPassword, password.bytes)
  }

  /// Gives the phrase of a member in advance.
  public func provide(_ phrase: consuming BiometricPhrase) { memory.give(.phrase, phrase.bytes) }

  /// Ends it for good: a prompt that is open ends as cancelled, and what was given or verified is wiped.
  public func invalidate() {
    memory.invalidate()
    prompt?.cancel()
    presence?.cancel()
    biometry?.cancel()
  }

  /// Whether the context can say or ask for something.
  func canShow(_ subject: PromptRequest.Subject) -> Bool {
    memory.given(subject) != nil || (prompt != nil && interaction == .allowed)
  }
}

/// What a context was given and has verified. Wiped with the last copy of the context.
final class ContextMemory: Sendable {
  /// A verification that may serve again.
  struct Kept: Sendable {
    enum Shown: Sendable {
      case passcode(PasscodeKeys)
      case member([UInt8], SharedSecret)
      case login([UInt8], SharedSecret)
    }
    let shown: Shown
    let session: UInt64
    let boot: [UInt8]
    let madeAt: UInt64
  }

  private struct State: Sendable {
    var isInvalid = false
    var given: [PromptRequest.Subject: SharedSecret] = [:]
    var kept: [Kept] = []
  }
  private let state = Mutex(State())

  var isInvalid: Bool { state.withLock { $0.isInvalid } }

  func invalidate() {
    state.withLock {
      $0 = State()
      $0.isInvalid = true
    }
  }

  func give(_ subject: PromptRequest.Subject, _ secret: consuming SecretBytes) {
    let box = SharedSecret(secret)
    state.withLock { if !$0.isInvalid { $0.given[subject] = box } }
  }

  func given(_ subject: PromptRequest.Subject) -> SharedSecret? { state.withLock { $0.given[subject] } }

  /// It was wrong: it is not tried again.
  func drop(_ subject: PromptRequest.Subject) { state.withLock { $0.given[subject] = nil } }

  func keep(_ kept: Kept) { state.withLock { if !$0.isInvalid { $0.kept.append(kept) } } }

  /// The verifications of a session that are not older than `reuse`.
  func kept(session: UInt64, clock: any VaultClock, reuse: UInt64) -> [Kept] {
    guard reuse > 0 else { return [] }
    let now = clock.bootMilliseconds()
    let boot = clock.bootID() ?? []
    return state.withLock { state in
      state.kept.removeAll { $0.boot != boot || now < $0.madeAt || now - $0.madeAt >= reuse }
      return state.kept.filter { $0.session == session }
    }
  }
}

/// What a person types to open one item: 1–1,024 bytes without NUL, taken as they are.
public struct ApplicationPassword: ~Copyable, Sendable {
  let bytes: SecretBytes

  /// - Throws: ``VaultError/Code/malformed``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.isTypable else {
      throw VaultError(.malformed, "an application password is 1 to 1,024 bytes without NUL")
    }
    self.bytes = bytes
  }
}

/// The phrase of a member of the enrolled set: 1–1,024 bytes without NUL, taken as they are.
public struct BiometricPhrase: ~Copyable, Sendable {
  let bytes: SecretBytes
  let shown: Shown

  /// - Throws: ``VaultError/Code/malformed``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// One of which it is known how it was shown.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    guard bytes.isTypable else {
      throw VaultError(.malformed, "a biometric phrase is 1 to 1,024 bytes without NUL")
    }
    self.bytes = bytes
    self.shown = shown
  }
}
