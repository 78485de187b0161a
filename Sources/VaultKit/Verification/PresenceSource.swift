import VaultFormat

/// Finds out whether a person is there (PAM). Advisory in a file and with the agent, because it gives no key; enforced by the
/// keeper.
public protocol PresenceSource: Sendable {
  /// Returns after the person was verified. Every other outcome throws and is a denial.
  ///
  /// - Parameters:
  ///   - request: What the person is asked for, and why.
  ///   - prompt: Shows the source's conversation.
  /// - Throws: `.authenticationFailed`, `.cancelled`, `.timedOut`, `.interactionNotAllowed`; `.unsupported` if the source
  ///   does not exist, `.verificationUnavailable` if it does not work.
  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError)

  /// Ends an open verification as `.cancelled`, from any thread. Does nothing if none is open. Called when
  /// ``Prompt/cancel()`` is.
  func cancel()
}

extension PresenceSource {
  /// Does nothing.
  public func cancel() {}
}
