import JOSE
package import SecretMemory
package import VaultKit

/// Token sets on the synchronous core. ``TokenSets`` offers the same on the actor.
extension VaultCore {
  /// Gets tokens for the client itself.
  package func requestTokens(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet {
    try check(scope: scope)
    try checkPresentTokens(of: client, context: context)
    var request = try tokenRequest(of: client, boundTo: key, over: transport, context: context)
    let answer = try request.send(asking: "the tokens") { form in
      form.set("grant_type", "client_credentials")
      form.set("scope", scope)
    }
    return try keep(answer, of: request, scope: scope)
  }

  /// Begins a request for tokens to which a person agrees. Sends nothing.
  package func beginAuthorization(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, redirect: String? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> AuthorizationRequest {
    try check(scope: scope)
    if let redirect { try RedirectAddress.check(redirect) }
    try checkPresentTokens(of: client, context: context)
    let (item, record) = try openRegistration(client, over: nil, context: context)
    guard let redirect = redirect ?? record.redirect else { throw RedirectAddress.missing }
    var thumbprint: (id: ItemID, thumbprint: String)?
    if let key { thumbprint = (key, try describeClientKey(of: key).publicKey.thumbprint) }
    return try AuthorizationRequest(
      of: record, item.id, redirect: redirect, scope: scope, key: thumbprint,
      random: environment.random)
  }

  /// Gets the tokens to which the person agreed.
  package func finishAuthorization(
    _ begun: AuthorizationRequest, with answer: SharedSecret, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet {
    try checkPresentTokens(of: begun.registration, context: context)
    var request = try tokenRequest(
      of: begun.registration, boundTo: begun.key, over: transport, context: context)
    let code = try AuthorizationAnswer(answer.bytes, to: begun, of: request.registration).code
    let given = try request.send(asking: "the code") { form in
      form.set("grant_type", "authorization_code")
      form.set("code", code)
      form.set("redirect_uri", begun.redirect)
      form.set("code_verifier", begun.verifier)
    }
    return try keep(given, of: request, scope: begun.scope)
  }

  /// Stores the tokens of a grant, unless the registration of the client is gone.
  func keep(
    _ answer: TokenAnswer, of request: TokenRequest, scope: String?
  ) throws(VaultError) -> TokenSet {
    let stored: TokenSet?
    do throws(VaultError) { stored = try store(answer, of: request, scope: scope) } catch {
      throw request.withdraw(answer, because: .unstored(error), next: .requestTokens)
    }
    if let stored { return stored }
    throw request.withdraw(
      answer,
      because: VaultError(.wrongState, "the registration was deleted while its tokens were requested"),
      next: .registerClient)
  }

  /// Refreshes the tokens of a client. One refresh at a time: the others wait, and take its result.
  package func refreshTokens(
    of client: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet {
    let seen = try refreshableTokens(of: client, context: context).tokens
    // Whoever has to be asked is asked before: nobody else waits for a person.
    var request = try tokenRequest(of: client, boundTo: seen.record.key, over: transport, context: context)
    return try alone(with: client, "the tokens are refreshed", context: context) { () throws(VaultError) in
      if let newer = try tokens(of: client, newerThan: seen, context: context) { return TokenSet(newer) }
      return try refresh(&request)
    }
  }

  private func refresh(_ request: inout TokenRequest) throws(VaultError) -> TokenSet {
    let (client, context) = (request.client, request.context)
    let (old, refresh) = try refreshableTokens(of: client, context: context)
    let answer: TokenAnswer
    do throws(VaultError) {
      answer = try request.send(asking: "the refresh token", silence: "invalid_grant", spending: refresh) {
        form in
        form.set("grant_type", "refresh_token")
        form.set("refresh_token", refresh)
      }
    } catch {
      // A person may have agreed to new tokens meanwhile, and ended the old ones by that.
      guard error.code == .expired, let newer = try tokens(of: client, newerThan: old, context: context)
      else { throw error }
      return TokenSet(newer)
    }
    let stored: TokenSet?
    do throws(VaultError) { stored = try replace(old, with: answer, of: request) } catch {
      // Without a new refresh token the old one is valid still, and can end with an access token that is revoked.
      guard let new = answer.refresh, !new.isSame(as: refresh) else { throw error }
      if let newer = try? tokens(of: client, newerThan: old, context: context) { return TokenSet(newer) }
      throw request.withdraw(answer, because: .unstored(error), next: .requestTokens)
    }
    if let stored { return stored }
    throw request.withdraw(
      answer,
      because: VaultError(.wrongState, "the tokens were revoked or deleted while they were refreshed"),
      next: .requestTokens)
  }

  /// Checks that there is something to refresh. Sends nothing.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` without tokens; ``VaultError/Code/policy`` without a refresh token.
  package func checkRefresh(of client: ItemID, context: AuthenticationContext? = nil) throws(VaultError) {
    _ = try refreshableTokens(of: client, context: context)
  }

  private func refreshableTokens(
    of client: ItemID, context: AuthenticationContext?
  ) throws(VaultError) -> (tokens: StoredTokens, refresh: SharedSecret) {
    let tokens = try openTokens(of: client, context: context)
    guard let refresh = tokens.record.refresh else {
      throw VaultError(.policy, "the server gave no refresh token with these tokens", hint: .requestTokens)
    }
    return (tokens, refresh)
  }

  /// Revokes the tokens at the server, and then deletes them here.
  package func revokeTokens(
    of client: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    let old = try openTokens(of: client, context: context)
    let request = try tokenRequest(of: client, boundTo: nil, over: transport, context: context)
    try request.revoke(refresh: old.record.refresh, access: old.record.access)
    try delete(old, context: context)
  }

  /// The tokens of a client, without the tokens themselves.
  package func tokenSet(
    of client: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet? {
    do throws(VaultError) { return TokenSet(try openTokens(of: client, context: context)) } catch {
      guard error.code == .itemNotFound, try hasRegistration(client) else { throw error }
      return nil
    }
  }

  /// The headers of one request.
  package func authorization(
    for client: ItemID, method: String, url: String, nonce: String? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> RequestAuthorization {
    // Also where no proof names it.
    let target = try ProofRequest(method: method, url: url, nonce: nonce).proof.target
    let stored = try openTokens(of: client, context: context)
    if let end = stored.record.expires, try expiryTime() >= end {
      throw VaultError(
        .expired, "the access token has expired",
        hint: stored.record.refresh == nil ? .requestTokens : .refreshTokens)
    }
    if let nonce { try remember(nonce, for: target, of: client) }
    let access = stored.record.access
    guard let key = stored.record.key else {
      return RequestAuthorization(authorization: access.authorization("Bearer "), proof: nil)
    }
    let signer = try OpenSigner(key, in: self, to: "prove the key of the request", context: context)
    let known = try nonces(of: client)[target]
    let request = try ProofRequest(method: method, url: url, nonce: known, token: access.bytes.copy())
    let proof = try signer.signer.proof(
      for: request, at: environment.clock.now(), random: environment.random)
    return RequestAuthorization(authorization: access.authorization("DPoP "), proof: proof)
  }

  /// The id token, as it was received.
  package func idToken(
    of client: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes? {
    guard let id = try openTokens(of: client, context: context).record.id else { return nil }
    return id.bytes.copy()
  }

  /// Checks that new tokens can take the place of those that are there, before the server is asked for them.
  ///
  /// - Throws: ``VaultError/Code/damaged``.
  func checkPresentTokens(of client: ItemID, context: AuthenticationContext?) throws(VaultError) {
    _ = try tokenSet(of: client, context: context)
  }

  func check(scope: String?) throws(VaultError) {
    guard let scope else { return }
    guard 1...TokenSetRecord.scopeBytes.upperBound ~= scope.utf8.count, VisibleText.flaw(inName: scope) == nil
    else { throw VaultError(.malformed, "the scope is empty, long, or has characters that do not show") }
  }
}

extension TokenRequest {
  fileprivate func withdraw(_ answer: TokenAnswer, because reason: VaultError, next: Hint) -> VaultError {
    withdraw(access: answer.access, refresh: answer.refresh, because: reason, next: next)
  }
}

extension SharedSecret {
  /// With a scheme before it.
  fileprivate func authorization(_ scheme: String) -> SecretBytes {
    SecretBytes.joining(SecretBytes(copying: Array(scheme.utf8)), bytes)
  }
}

extension VaultError {
  /// Tokens that the server gave, and that a commit which failed did not store. The same request would not succeed a second time.
  fileprivate static func unstored(_ error: VaultError) -> VaultError {
    VaultError(
      error.code == .busy ? .io : error.code, "the tokens could not be stored (\(error.message))"
    ).final()
  }
}
