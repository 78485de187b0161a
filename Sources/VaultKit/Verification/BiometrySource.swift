import VaultFormat

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
