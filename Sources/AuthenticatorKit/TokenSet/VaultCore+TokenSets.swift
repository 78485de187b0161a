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
    try Self.check(scope: scope)
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
    try Self.check(scope: scope)
    if let redirect { try RedirectAddress.check(redirect) }
    try checkPresentTokens(of: client, context: context)
    let (item, record) = try openRegistration(client, over: nil, context: context)
    guard let redirect = redirect ?? record.redirect else { throw RedirectAddress.missing }
    let thumbprint = try key.map { id throws(VaultError) in
      (id: id, thumbprint: try describeClientKey(of: id).publicKey.thumbprint)
    }
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
  private func keep(
    _ answer: TokenAnswer, of request: TokenRequest, scope: String?
  ) throws(VaultError) -> TokenSet {
    let stored: TokenSet?
    do throws(VaultError) { stored = try store(answer, of: request, scope: scope) } catch {
      throw withdraw(
        answer, of: request, because: .unstored(error),
        next: Hint(.requestTokens, saying: "get new tokens"))
    }
    if let stored { return stored }
    throw withdraw(
      answer, of: request,
      because: VaultError(.wrongState, "the registration was deleted while its tokens were requested"),
      next: Hint(.registerClient, saying: "register the client again"))
  }

  /// Refreshes the tokens of a client.
  package func refreshTokens(
    of client: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet {
    let (old, refresh) = try refreshableTokens(of: client, context: context)
    var request = try tokenRequest(of: client, boundTo: old.record.key, over: transport, context: context)
    let answer: TokenAnswer
    do throws(VaultError) {
      answer = try request.send(asking: "the refresh token", silence: "invalid_grant") { form in
        form.set("grant_type", "refresh_token")
        form.set("refresh_token", refresh)
      }
    } catch {
      // A server that gives a new refresh token each time refuses the second of two that are sent at once.
      guard error.code == .expired, let newer = try storedElsewhere(of: client, insteadOf: old, context)
      else { throw error }
      return TokenSet(newer)
    }
    let next = Hint(.requestTokens, saying: "get new tokens")
    let stored: TokenSet?
    do throws(VaultError) { stored = try replace(old, with: answer, of: request) } catch {
      // Without a new refresh token the old one is valid still, and can end with an access token that is revoked.
      guard let new = answer.refresh, !new.isSame(as: refresh) else { throw error }
      if let newer = try? tokens(of: client, newerThan: old, context: context) { return TokenSet(newer) }
      throw withdraw(answer, of: request, because: .unstored(error), next: next)
    }
    if let stored { return stored }
    throw withdraw(
      answer, of: request,
      because: VaultError(.wrongState, "the tokens were revoked or deleted while they were refreshed"),
      next: next)
  }

  /// The tokens that another process stores in the place of old ones. Its server answered it before it refused this one, so its commit
  /// is there or comes soon.
  private func storedElsewhere(
    of client: ItemID, insteadOf old: StoredTokens, _ context: AuthenticationContext?
  ) throws(VaultError) -> StoredTokens? {
    for _ in 0..<Self.looksForTokens {
      if let newer = try tokens(of: client, newerThan: old, context: context) { return newer }
      environment.pause(.milliseconds(100))
    }
    return nil
  }

  private static let looksForTokens = 50

  /// Has the server revoke tokens that have no place here: what is not stored must not work. A server can give one token twice:
  /// those of newer tokens, which are stored, stay.
  ///
  /// - Parameters:
  ///   - reason: Why they have no place.
  ///   - next: What to do once they are revoked.
  /// - Returns: How the request ends.
  private func withdraw(
    _ answer: TokenAnswer, of request: TokenRequest, because reason: VaultError, next: Hint?
  ) -> VaultError {
    let newer = try? openTokens(of: request.client, context: request.context).record
    if newer?.refresh?.isSame(as: answer.refresh) == true || newer?.access.isSame(as: answer.access) == true {
      return VaultError(reason.code, "\(reason.message); newer ones are stored")
    }
    do throws(VaultError) { try request.revoke(refresh: answer.refresh, access: answer.access) } catch {
      return VaultError(
        reason.code, "\(reason.message), and the server did not revoke the new ones: \(error.message)",
        hint: "have its operator revoke the tokens of this client")
    }
    return VaultError(
      reason.code, "\(reason.message); the server has revoked the new ones", hint: next)
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
      throw VaultError(
        .policy, "the server gave no refresh token with these tokens",
        hint: Hint(.requestTokens, saying: "get new tokens"))
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
        hint: stored.record.refresh == nil
          ? Hint(.requestTokens, saying: "get new tokens")
          : Hint(.refreshTokens, saying: "refresh the tokens"))
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
  private func checkPresentTokens(of client: ItemID, context: AuthenticationContext?) throws(VaultError) {
    _ = try tokenSet(of: client, context: context)
  }

  private static func check(scope: String?) throws(VaultError) {
    guard let scope else { return }
    guard 1...TokenSetRecord.scopeBytes.upperBound ~= scope.utf8.count, VisibleText.flaw(inName: scope) == nil
    else { throw VaultError(.malformed, "the scope is empty, long, or has characters that do not show") }
  }
}

extension SharedSecret {
  fileprivate func isSame(as other: SharedSecret?) -> Bool {
    other.map { bytes.isEqualInConstantTime(to: $0.bytes) } ?? false
  }

  /// With a scheme before it.
  fileprivate func authorization(_ scheme: String) -> SecretBytes {
    SecretBytes.joining(SecretBytes(copying: Array(scheme.utf8)), bytes)
  }
}

extension VaultError {
  /// Tokens that the server gave, and that a commit which failed did not store. The same request would not succeed a second time.
  fileprivate static func unstored(_ error: VaultError) -> VaultError {
    VaultError(
      error.code == .busy ? .io : error.code, "the tokens could not be stored (\(error.message))")
  }
}
