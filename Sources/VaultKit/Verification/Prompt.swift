import VaultFormat
public import SecretMemory

/// Asks a person. Terminal and pinentry are in VaultPrompts; a scripted one for tests is in VaultTestKit.
///
/// Called on a thread that may wait: no other call of the vault waits for it. A prompt never reads standard input and
/// never writes standard output.
public protocol Prompt: Sendable {
  /// The text that the person types, without its newline: 1 to 1,024 bytes without NUL. Nothing (0 bytes) counts as
  /// declined; for any other answer the person is asked again.
  ///
  /// - Throws: `.cancelled` if the person declines or ``cancel()`` ends the prompt; `.timedOut` if nobody answers;
  ///   `.interactionNotAllowed` if no person can be asked. The vault denies the access whatever is thrown.
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes

  /// A secret that answers a request without a person, such as the content of a file that an option names. nil if a
  /// person must be asked.
  ///
  /// Called before ``readSecret(_:)``. The audit tells such a secret from one that a person typed.
  func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes?

  /// Whether the person agrees.
  ///
  /// - Throws: As ``readSecret(_:)``.
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool

  /// Shows a line that needs no answer: "place your finger on the reader". A prompt that cannot show it does nothing.
  func show(_ line: String, for request: PromptRequest)

  /// Ends an open prompt as `.cancelled`, from any thread. Does nothing if none is open.
  ///
  /// Called when the task of the call is cancelled, the context is invalidated, or the vault is locked. Where several
  /// calls share a prompt, ``PromptRequest/isCancelled`` says which of them ended. The call does not wait for a prompt
  /// that stays open: its answer is discarded.
  func cancel()
}

extension Prompt {
  /// Returns nil, so that a person is asked.
  public func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes? { nil }

  /// Shows nothing.
  public func show(_ line: String, for request: PromptRequest) {}

  /// Does nothing.
  public func cancel() {}
}
