public import SecretMemory
public import VaultKit

// Read in this order:
//
// - `TokenSets`, `TokenSet`, `AuthorizationRequest`, `RequestAuthorization`: what an application uses.
//   `ClientRegistrations`: the clients.
// - `VaultCore+TokenSets.swift`: how tokens are asked for, refreshed and revoked. `VaultCore+StoringTokens.swift`: one set and
//   its commit. `TokenAnswer.swift`: what is believed of an answer. `VaultCore+TokenRequest.swift`: proofs and nonces.
// - Below, in VaultFormat: `TokenSetRecord`, `RegistrationRecord`.

/// The tokens of OAuth servers: one set for each registered client.
///
/// ```swift
/// let tokens = TokenSets(vault)
/// try await tokens.request(for: client.id, boundTo: clientKey.id, over: transport)     // for the client itself
/// let request = try await tokens.begin(for: client.id, boundTo: clientKey.id)            // or for a person, who opens request.url
/// try await tokens.finish(request, with: redirection, over: transport)
/// let headers = try await tokens.authorization(for: client.id, method: "GET", url: "https://api.example/orders")
/// ```
///
/// A set is replaced whole, in one commit: after a crash there is the old one or the new one. No call hands the access token of a
/// bound set out without its proof. **Advisory** in this process: the class key opens the set.
public struct TokenSets: Sendable {
  private let vault: Vault

  /// The token sets of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  /// Gets tokens for the client itself (`client_credentials`), in the place of those that it has.
  ///
  /// - Parameters:
  ///   - client: The registration.
  ///   - key: A client key to which the tokens are bound; `nil` for tokens that anybody can use.
  ///   - scope: What they are to permit, in the words of the server.
  ///   - transport: The way to the server, the one over which the client was registered.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the keys.
  /// - Throws: ``VaultError/Code/policy`` for an answer that is not bound to the key, and for another transport;
  ///   ``VaultError/Code/wrongState`` if the registration was deleted meanwhile: the server then revokes the tokens;
  ///   ``VaultError/Code/expired``, ``VaultError/Code/deviceUnknown``, ``VaultError/Code/peerFailed`` for what the server refuses;
  ///   ``VaultError/Code/network``. Nothing is stored then.
  @discardableResult
  public func request(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TokenSet {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.requestTokens(for: client, boundTo: key, scope: scope, over: transport, context: context)
    }
  }

  /// Begins a request for tokens to which a person agrees in a browser (`authorization_code`, with PKCE). Sends nothing.
  ///
  /// - Parameters:
  ///   - client: The registration.
  ///   - key: A client key to which the tokens are to be bound; `nil` for tokens that anybody can use.
  ///   - scope: What they are to permit, in the words of the server.
  ///   - redirect: Where the server sends the browser, an absolute address without a fragment; `nil` for the address of the
  ///     registration.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the key.
  /// - Throws: ``VaultError/Code/unsupported`` where the server has no such page, ``VaultError/Code/malformed`` for another
  ///   address, and without one here and in the registration; ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``.
  public func begin(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, redirect: String? = nil,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> AuthorizationRequest {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.beginAuthorization(
        for: client, boundTo: key, scope: scope, redirect: redirect, context: context)
    }
  }

  /// Gets the tokens to which the person agreed, in the place of those that the client has.
  ///
  /// - Parameters:
  ///   - request: What ``begin(for:boundTo:scope:redirect:context:)`` returned.
  ///   - answer: The whole address to which the server redirected the browser, whose state is compared; or the code alone, which
  ///     the caller has compared.
  ///   - transport: The way to the server, the one over which the client was registered.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the keys.
  /// - Throws: ``VaultError/Code/policy`` for the answer to another request, of another server, or without the name of a server that
  ///   names itself (RFC 9207); ``VaultError/Code/malformed``; as
  ///   ``request(for:boundTo:scope:over:context:)``.
  @discardableResult
  public func finish(
    _ request: AuthorizationRequest, with answer: consuming SecretBytes, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TokenSet {
    let answer = SharedSecret(answer)
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.finishAuthorization(request, with: answer, over: transport, context: context)
    }
  }

  /// Begins a request for tokens to which a person agrees on another device (RFC 8628). Show its code and its address.
  ///
  /// - Parameters:
  ///   - client: The registration.
  ///   - key: A client key to which the tokens are to be bound; `nil` for tokens that anybody can use.
  ///   - scope: What they are to permit, in the words of the server.
  ///   - transport: The way to the server, the one over which the client was registered.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the keys.
  /// - Throws: ``VaultError/Code/unsupported`` where the server has nothing of the kind; as
  ///   ``request(for:boundTo:scope:over:context:)``.
  public func beginOnOtherDevice(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> DeviceAuthorization {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.beginDeviceAuthorization(
        for: client, boundTo: key, scope: scope, over: transport, context: context)
    }
  }

  /// Waits until the person has agreed on the other device, and gets the tokens, in the place of those that the client has. Asks the
  /// server as often as it wants to be asked, and ends when it stops waiting.
  ///
  /// - Throws: ``VaultError/Code/expired`` if nobody agreed in time; ``VaultError/Code/policy`` if the person refused;
  ///   ``VaultError/Code/appCancelled`` when the task is cancelled; as ``request(for:boundTo:scope:over:context:)``.
  @discardableResult
  public func finish(
    _ request: DeviceAuthorization, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TokenSet {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.finishDeviceAuthorization(request, over: transport, context: context)
    }
  }

  /// Refreshes the tokens of a client: all of them are replaced in one commit. A refresh token or a scope that the server does not
  /// name stays.
  ///
  /// One refresh at a time, of all processes and threads: the others wait, and return the tokens that it stored. A process that is killed
  /// holds nobody up. A set never takes the place of a newer one.
  ///
  /// What only describes the tokens never costs them: where the server names a time or a scope that cannot be read, they are stored
  /// without it. An answer without an access token, or with one of another kind than was asked for, is refused, and what is in it is
  /// revoked.
  ///
  /// - Throws: ``VaultError/Code/busy`` where another refresh takes longer than a transport may; ``VaultError/Code/policy`` without a refresh token, before any request; ``VaultError/Code/expired`` for one that
  ///   the server no longer accepts; ``VaultError/Code/wrongState`` if the tokens were revoked or deleted meanwhile: the
  ///   server then revokes the new ones; as
  ///   ``request(for:boundTo:scope:over:context:)``.
  @discardableResult
  public func refresh(
    _ client: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TokenSet {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.refreshTokens(of: client, over: transport, context: context)
    }
  }

  /// Revokes the tokens of a client at its server (RFC 7009), and then deletes them here. Where the server fails, they stay.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` where the server revokes nothing; ``VaultError/Code/wrongState`` if the tokens
  ///   were replaced meanwhile; ``VaultError/Code/network`` and the errors of the server.
  public func revoke(
    _ client: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.revokeTokens(of: client, over: transport, context: context)
    }
  }

  /// The tokens of a client, without the tokens themselves; `nil` where it has none.
  ///
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/itemNotFound`` for a client that is not there.
  public func current(
    of client: ItemID, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TokenSet? {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.tokenSet(of: client, context: context)
    }
  }

  /// What lets one request in: the header `Authorization`, and for a bound token the proof, which is for this request alone.
  ///
  /// - Parameters:
  ///   - client: The registration.
  ///   - method: The method of the request, as it is sent.
  ///   - url: Its address.
  ///   - nonce: What the server sent in `DPoP-Nonce`; it is remembered for its origin. `nil` for what is remembered.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the key.
  /// - Throws: ``VaultError/Code/expired`` for an access token whose time is over; ``VaultError/Code/itemNotFound`` without
  ///   tokens; ``VaultError/Code/malformed`` for a request that no proof can name.
  public func authorization(
    for client: ItemID, method: String, url: String, nonce: String? = nil,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> RequestAuthorization {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.authorization(for: client, method: method, url: url, nonce: nonce, context: context)
    }
  }

  /// The id token (OpenID Connect), as it was received: nothing here has verified it. `nil` where there is none.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` without tokens, ``VaultError/Code/locked``.
  public func idToken(
    of client: ItemID, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes? {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.idToken(of: client, context: context)
    }
  }
}
