import VaultFormat

/// A fingerprint reader (fprintd). Advisory in a file and with the agent, because it gives no key; enforced by the keeper.
public protocol BiometrySource: Sendable {
  /// The enrolled fingers, by the names of the source, ascending.
  ///
  /// - Throws: `.unsupported` without a reader or a service; the error says what to do.
  func enrolledFingers() throws(VaultError) -> [String]

  /// Returns after a finger of the enrolled set was verified. Every other outcome throws and is a denial.
  ///
  /// - Parameters:
  ///   - request: What the person is asked for, and why.
  ///   - progress: Called with each line that the person should see: "place your finger on the reader".
  /// - Returns: The finger that matched; nil if the source does not say which.
  /// - Throws: `.authenticationFailed`, which counts as a wrong attempt; `.cancelled`, `.timedOut`; `.unsupported` or
  ///   `.verificationUnavailable` if the reader cannot be used now.
  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String?

  /// Ends an open verification as `.cancelled`, from any thread. Does nothing if none is open. Called when
  /// ``Prompt/cancel()`` is.
  func cancel()
}

extension BiometrySource {
  /// Does nothing.
  public func cancel() {}
}
