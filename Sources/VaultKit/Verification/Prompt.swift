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
