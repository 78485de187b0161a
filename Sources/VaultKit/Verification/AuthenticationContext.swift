import VaultFormat
import VaultKeys
import Synchronization
import SecretMemory
import TextPreparation

/// How a person is verified, and how long a verification remains valid. Copies share one authentication.
///
/// ```swift
/// let context = AuthenticationContext(reason: "pay 12 EUR to Anna", prompt: terminal, reuse: .seconds(60))
/// let first = try await vault.secret(of: item.id, context: context)
/// let second = try await vault.secret(of: other.id, context: context)   // within a minute: nobody is asked again
/// ```
public struct AuthenticationContext: Sendable {
  /// Whether prompts may appear.
  @nonexhaustive
  public enum Interaction: Sendable {
    /// Prompts may appear.
    case allowed
    /// An operation that needs a prompt fails at once with ``VaultError/Code/interactionNotAllowed``.
    case notAllowed
  }

  /// Why, in the caller's words; prompts show it.
  public let reason: String
  let prompt: (any Prompt)?
  let presence: (any PresenceSource)?
  let biometry: (any BiometrySource)?
  /// In milliseconds of the boot clock.
  private(set) var reuse: UInt64
  let interaction: Interaction
  let memory = ContextMemory()
  /// Shown whole by every prompt of a call with this copy.
  private(set) var text: ShownText?
  /// The call that this copy is used in; `nil` outside of the actor's calls.
  var call: OpenCall?
  /// Sees the passcode that a call with this copy verifies; `nil` in most calls.
  var witness: PasscodeWitness?
  /// What a person has let the program do again; `nil` where each use asks.
  package var grants: (any StandingGrants)?
  /// How the phrase or the finger of a biokey is asked for; `nil` outside of a ladder.
  var rung: LadderRung?

  /// A context.
  ///
  /// - Parameters:
  ///   - reason: Why, in the caller's words; prompts show it.
  ///   - prompt: Prompts for secrets; `nil` if only secrets given in advance may be used.
  ///   - presence: Finds out whether a person is there (PAM). Asked before the passcode, for
  ///     ``Constraints/userPresence``, if the login password is a member of the vault
  ///     (``Vault/enrollLogin(passcode:)``). Advisory in this process.
  ///   - biometry: A fingerprint reader, asked if its fingers are members of the vault. Advisory in this process.
  ///   - reuse: For how long a verification serves further items and operations, 0 to 300 s; more is taken as 300 s.
  ///     The verification stays in locked memory until the context is used again, invalidated or released. Locking
  ///     the vault ends its use.
  ///   - interaction: Whether prompts may appear.
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

  /// A copy whose prompts show a text whole before the person answers: the data that a call is about to sign. The copy
  /// shares everything else with this context.
  ///
  /// No earlier verification serves the copy, whatever the `reuse` of this context: the person sees each text. For a secret
  /// that was given in advance no prompt appears, and then the text is not shown.
  public func showing(_ text: ShownText) -> AuthenticationContext {
    var copy = self
    copy.text = text
    copy.grants = nil
    return copy
  }

  /// A copy that no earlier verification serves, for a decision without a text. The copy shares everything else with this
  /// context.
  package var forOneDecision: AuthenticationContext {
    var copy = self
    copy.reuse = 0
    copy.grants = nil
    return copy
  }

  /// Gives the passcode in advance. It is used until it is found to be wrong or the context is invalidated.
  public func provide(_ passcode: consuming Passcode) { memory.give(.passcode, secret: passcode.intoBytes()) }

  /// Gives an application password in advance.
  public func provide(_ password: consuming ApplicationPassword) {
    memory.give(.applicationPassword, secret: password.typed.given.bytes.copy())
  }

  /// Gives the phrase of a member in advance.
  public func provide(_ phrase: consuming BiometricPhrase) {
    memory.give(.phrase, secret: phrase.typed.given.bytes.copy())
  }

  /// Gives the PIN of an item in advance. Each call uses it once; a wrong one is dropped. A vault keeps a PIN nowhere else:
  /// `reuse` does not serve it.
  public func provide(_ pin: consuming PIN) { memory.give(.pin, secret: pin.intoBytes()) }

  /// Gives a new PIN in advance, for a call that makes or changes one.
  public func provide(new pin: consuming PIN) { memory.give(.newPIN, secret: pin.intoBytes()) }

  /// Ends the context permanently. An open prompt ends, the call that shows it throws
  /// ``VaultError/Code/appCancelled``, and all given or verified secrets are wiped.
  public func invalidate() { memory.invalidate() }

  /// A copy for use in one call.
  func used(in call: OpenCall) -> AuthenticationContext {
    var copy = self
    copy.call = call
    return copy
  }

  /// Whether the context was given a secret or may prompt for it.
  func canShow(_ subject: PromptRequest.Subject) -> Bool {
    memory.given(subject) != nil || (prompt != nil && interaction == .allowed)
  }

  /// The call waits again, and its caller need not.
  package func endUse() { call?.endUse() }

  /// Whether a secret can be had without a person: it was given to this context, or the prompt's channel has it.
  package func isGiven(_ subject: PromptRequest.Subject) throws(VaultError) -> Bool {
    if memory.given(subject) != nil { return true }
    guard interaction == .allowed, let prompt else { return false }
    return try prompt.givenSecret(for: PromptRequest(subject, operation: "find out what was given")) != nil
  }
}

extension CallValidity {
  /// The validity of a call that has a context, or may have one.
  init(_ core: VaultCore, context: AuthenticationContext?, call: OpenCall? = nil) {
    let memory = context?.memory
    self.init(core, call: call ?? context?.call, endedBy: { memory?.isInvalid == true })
  }
}
