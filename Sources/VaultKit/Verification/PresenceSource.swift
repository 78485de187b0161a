import VaultFormat

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

extension PresenceSource {
  /// Ends nothing.
  public func cancel() {}
}
