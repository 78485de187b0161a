public import SecretMemory
public import VaultKit

/// The end of a block by the server: it sends the person a code, and judges it.
///
/// ```swift
/// let unlock = CredentialUnlock(of: credential.id, in: vault)
/// try await unlock.start(over: transport)
/// try await unlock.finish(code: code, over: transport, context: context)     // asks for the PIN, or for a new one
/// ```
///
/// Five wrong codes refuse an unlock for good; then only another one, which the server begins under another name, can end the
/// block. Whoever can run the transport, and the server, can end a block; neither gets a code without the PIN.
public struct CredentialUnlock: Sendable {
  /// The credential that is blocked, or whose PIN is.
  public let credential: ItemID
  private let vault: Vault

  /// The unlock of a credential, which may be under way already: ``CredentialStatus/state`` says.
  public init(of credential: ItemID, in vault: Vault) { (self.credential, self.vault) = (credential, vault) }

  /// Asks the server to send the person a code. ``CredentialStatus/unlockNeedsNewPIN`` then says which PIN ends the block,
  /// and ``CredentialStatus/secondsLeft`` until when.
  ///
  /// - Parameters:
  ///   - transport: The way to the server.
  ///   - context: Gives the passcode if the credential was activated through another transport.
  /// - Throws: ``VaultError/Code/wrongState`` if it is not blocked, ``VaultError/Code/blocked`` if the server names an unlock
  ///   that is refused for good, ``VaultError/Code/policy`` without a server, ``VaultError/Code/network``, what the transport
  ///   throws.
  public func start(
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let id = credential
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.startUnlock(of: id, over: transport, context: context)
    }
  }

  /// Ends the block with the code, and with the PIN.
  ///
  /// The PIN is asked for before the server, so cancelling its prompt uses no code. The current PIN is judged first, and only with
  /// a right one is the code sent. Where the PIN itself is blocked, it is judged after the server has accepted the code, which
  /// permits one attempt: a right PIN gives all of them back, a wrong one blocks the PIN again. With a new PIN, its biokeys are
  /// deleted. The block of the PIN is over for all that is behind it; another credential that its server has blocked, or whose
  /// own unlock was begun, stays blocked.
  ///
  /// - Parameters:
  ///   - code: The code, 1 to 1,024 bytes, as the person typed it.
  ///   - transport: The way to the server.
  ///   - context: Gives the PIN or the new PIN, and the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft` for a wrong code or a wrong PIN;
  ///   ``VaultError/Code/blocked`` after the fifth wrong code, ``VaultError/Code/wrongState`` if no unlock is under way,
  ///   ``VaultError/Code/policy`` if a new PIN would lose other credentials, ``VaultError/Code/pinRefused``,
  ///   ``VaultError/Code/locked``, ``VaultError/Code/network``, what the transport throws.
  public func finish(
    code: consuming SecretBytes, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let (id, code) = (credential, SharedSecret(code))
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.finishUnlock(of: id, code: code, over: transport, context: context)
    }
  }
}
