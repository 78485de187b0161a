public import VaultKit

/// With the peer that has activated the credential.
extension OTPCredential {
  /// Brings counter, clock, limits and state in step with the peer. What the peer says is one commit; of a peer that
  /// fails nothing is stored, and the counter of the code that it was sent stays used.
  ///
  /// Asks for the PIN where the peer wants the current one (``PINFactors``), and proves it with a code where one can be made. A
  /// blocked or disabled credential asks for no PIN: the peer alone can end that.
  ///
  /// - Parameters:
  ///   - transport: The way to the peer. Another one than that of the activation asks for the passcode of the vault first.
  ///   - context: Gives the PIN and the passcode. The end of its task ends the request.
  /// - Throws: ``VaultError/Code/blocked`` and ``VaultError/Code/wrongState`` for a credential that the peer has blocked or
  ///   disabled: this is stored. Nothing is stored with ``VaultError/Code/network``, with ``VaultError/Code/policy`` for a
  ///   credential without a peer, and with what the peer and ``nextCode(by:context:)`` throw.
  @discardableResult
  public func synchronize(
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ServerSynchronization {
    let id = id
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.synchronize(id, over: transport, context: context)
    }
  }

  /// The next code, given to the peer, which has accepted it. It does not count as made without a synchronization.
  ///
  /// - Parameters:
  ///   - transport: As of ``synchronize(over:context:)``.
  ///   - context: Gives the PIN or the biokey, as the peer wants it.
  /// - Returns: The code. ``OTPResult/Notice/synchronizationFailed`` says that the two sides are still out of step.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a code that the peer refuses; ``VaultError/Code/expired`` when it
  ///   no longer waits: a counter that was used stays used; ``VaultError/Code/network``; as ``nextCode(by:context:)``.
  public func onlineCode(
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPResult {
    let id = id
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.onlineCode(of: id, over: transport, context: context)
    }
  }
}
