public import VaultKit

/// With the peer that has activated the credential.
extension OCRACredential {
  /// Brings counter, clock, limits and state in step with the peer, as ``OTPCredential/synchronize(over:context:)``. No code is
  /// made for it: there is no question.
  @discardableResult
  public func synchronize(
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ServerSynchronization {
    let id = id
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.synchronize(id, over: transport, context: context)
    }
  }

  /// The code for a question of the peer, which has accepted it, as ``OTPCredential/onlineCode(over:context:)``. A person who
  /// is asked sees the question.
  public func onlineCode(
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OCRAResult {
    let id = id
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.onlineOCRACode(with: id, over: transport, context: context)
    }
  }

  /// The code for a question, given to the peer, which has accepted it, as ``OTPCredential/onlineCode(over:context:)``.
  ///
  /// - Parameters:
  ///   - request: As of ``sign(_:context:)``.
  ///   - transport: The way to the peer.
  ///   - context: Gives the PIN or the biokey, as the peer wants it. What its prompts show:
  ///     ``AuthenticationContext/showing(_:)``.
  public func onlineSeal(
    _ request: OCRARequest, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OCRAResult {
    let id = id
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.onlineSeal(request, with: id, over: transport, context: context)
    }
  }
}
