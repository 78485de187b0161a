import VaultFormat
public import SecretMemory

/// Asks a person. Terminal and pinentry are in VaultPrompts; a scripted one for tests is in VaultTestKit.
///
/// Called on a thread that may wait. A prompt never reads standard input and never writes standard output.
public protocol Prompt: Sendable {
  /// What the person types, without its newline.
  ///
  /// - Throws: `.cancelled` when she declines or the prompt ends; `.interactionNotAllowed` when there is
  ///   nobody to ask.
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes

  /// What answers a request without a person, such as a file that an option names; nil where a person has to be asked.
  ///
  /// Called before ``readSecret(_:)``. The audit tells such a secret from one that a person typed.
  func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes?

  /// Whether the person agrees.
  ///
  /// - Throws: As ``readSecret(_:)``.
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool

  /// Shows a line that asks nothing: "place your finger on the reader". A prompt without a place for it does nothing.
  func show(_ line: String, for request: PromptRequest)

  /// Ends what is open, from any thread, as `.cancelled`; nothing when nothing is open.
  func cancel()
}

extension Prompt {
  /// Nothing: a person is asked.
  public func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes? { nil }

  /// Shows nothing.
  public func show(_ line: String, for request: PromptRequest) {}

  /// Ends nothing.
  public func cancel() {}
}

/// Finds out whether a person is there (PAM). Advisory: enforced in this process, by no key.
public protocol PresenceSource: Sendable {
  /// Returns when the person was verified; every other outcome throws and is a denial.
  ///
  /// - Parameter prompt: Shows the source's conversation.
  /// - Throws: `.authenticationFailed`, `.cancelled`, `.interactionNotAllowed`; `.unsupported` when the source
  ///   is not there.
  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError)

  /// Ends a verification that is open, from any thread, as `.cancelled`; nothing when none is open.
  func cancel()
}

/// Nobody: a source that has to ask somebody is told so.
struct NobodyPrompt: Prompt {
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes { throw Self.nobody }
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { throw Self.nobody }

  private static var nobody: VaultError { VaultError(.interactionNotAllowed, "there is nobody to ask") }
}

extension PresenceSource {
  /// Ends nothing.
  public func cancel() {}
}

/// A fingerprint reader (fprintd). Advisory: enforced in this process, by no key.
public protocol BiometrySource: Sendable {
  /// The enrolled fingers as the source names them, ascending.
  ///
  /// - Throws: `.unsupported` when there is no reader or no service, with what to do about it.
  func enrolledFingers() throws(VaultError) -> [String]

  /// Returns when a finger of the enrolled set was verified; every other outcome throws and is a denial.
  ///
  /// - Parameter progress: Is given each line that the person should see: "place your finger on the reader".
  /// - Returns: The finger that matched where the source tells, else nil.
  /// - Throws: `.authenticationFailed`, `.cancelled`, `.unsupported`.
  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String?

  /// Ends a verification that is open, from any thread, as `.cancelled`; nothing when none is open.
  func cancel()
}

extension BiometrySource {
  /// Ends nothing.
  public func cancel() {}
}
