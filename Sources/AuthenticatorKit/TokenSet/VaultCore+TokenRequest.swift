import JOSE
import SecretMemory
import VaultKit

/// A request for tokens: who the client is, the key that the tokens are bound to, and the nonce of the server.
struct TokenRequest {
  let client: ItemID
  let registration: RegistrationRecord
  private let identity: ClientIdentity
  let key: ItemID?
  private let signer: OpenSigner?
  /// What the token endpoint wants to see in the next proof.
  private var nonce: String?
  /// Whether it said so in answer to this request.
  private var isNonceNew = false
  private let target: HTTPTarget
  private let core: VaultCore
  private let transport: any Transport
  let context: AuthenticationContext?

  init(
    _ core: VaultCore, of client: ItemID, boundTo key: ItemID?, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) {
    let (item, record) = try core.openRegistration(client, over: transport, context: context)
    (self.core, self.client, self.key, self.transport, self.context) = (core, client, key, transport, context)
    registration = record
    do throws(JOSEError) { target = try HTTPTarget(record.tokenEndpoint) } catch {
      throw VaultError(jose: error)
    }
    nonce = DPoPNonces(item)[target]
    // The tokens are stored after the request: a vault that is locked is unlocked before.
    try core.permitAdding(core.newTokenSet(of: item), by: .tokenSet, context: context)
    identity = try ClientIdentity(record, in: core, context: context)
    signer =
      if let key { try OpenSigner(key, in: core, to: "bind tokens to the key", context: context) } else {
        nil
      }
  }

  /// Sends the request. If the server wants its nonce in the proof, sends it once more.
  ///
  /// - Parameters:
  ///   - asked: What the server refuses, if it does.
  ///   - silence: The word of a server that refuses without one.
  ///   - spent: The refresh token that is sent.
  ///   - fill: Adds the parameters of the grant.
  mutating func send(
    asking asked: String, silence: String? = nil, spending spent: SharedSecret? = nil,
    _ fill: (OAuthForm) -> Void
  ) throws(VaultError) -> TokenAnswer {
    let reply = try send(fill)
    guard reply.isSuccess, !OAuthRefusal(reply).isStated else {
      throw .oauth(reply, of: asked, silence: silence)
    }
    return try tokens(in: reply, spending: spent)
  }

  /// The same, for a request whose refusals have a meaning of their own.
  mutating func send(_ fill: (OAuthForm) -> Void) throws(VaultError) -> OAuthReply {
    for attempt in 0..<2 {
      let reply = try sendOnce(fill)
      if let given = reply.nonce, given != nonce { (nonce, isNonceNew) = (given, true) }
      let refusal = OAuthRefusal(reply)
      if reply.isSuccess, !refusal.isStated { return reply }
      guard attempt == 0, signer != nil, refusal.word == "use_dpop_nonce", reply.nonce != nil else {
        // The next try then begins with the nonce of this one.
        try? rememberNonce()
        return reply
      }
    }
    preconditionFailure("TokenRequest.send(_:): a second request without an end")
  }

  private func rememberNonce() throws(VaultError) {
    var transaction = try core.beginWriting()
    try remember(in: &transaction)
    try transaction.commit()
  }

  /// The tokens that a reply gives. Those that cannot be used are revoked.
  func tokens(in reply: OAuthReply, spending spent: SharedSecret? = nil) throws(VaultError) -> TokenAnswer {
    let given = GivenTokens(reply)
    do throws(VaultError) { return try TokenAnswer(given, isProved: signer != nil) } catch {
      throw discard(given, because: error, spending: spent)
    }
  }

  /// Remembers the nonce that came with an answer. Other nonces may have come to other processes meanwhile, and stay.
  func remember(in transaction: inout WriteTransaction) throws(VaultError) {
    guard isNonceNew, let nonce else { return }
    try transaction.remember(nonce, for: target, of: client)
  }

  private func sendOnce(_ fill: (OAuthForm) -> Void) throws(VaultError) -> OAuthReply {
    let (form, headers) = (OAuthForm(), OAuthHeaders())
    fill(form)
    try identity.prove(form, headers, to: registration.tokenEndpoint, in: core)
    if let signer {
      let request = try ProofRequest(method: "POST", url: registration.tokenEndpoint, nonce: nonce)
      let proof = try signer.signer.proof(
        for: request, at: core.environment.clock.now(), random: core.environment.random)
      headers.set("DPoP", proof)
    }
    return try core.send(
      .oauthToken, to: registration.tokenEndpoint, headers: headers, body: form.copy(), over: transport,
      context: context)
  }

  /// Has the server revoke tokens, the refresh token first.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` where the server revokes nothing; what it refuses.
  func revoke(refresh: SharedSecret?, access: SharedSecret?) throws(VaultError) {
    guard let endpoint = registration.revocationEndpoint else {
      throw VaultError(
        .unsupported, "the server revokes no tokens", hint: "delete the set of tokens by its id")
    }
    if let refresh, let refusal = try revoke(refresh, "refresh_token", at: endpoint) {
      throw refusal.error(of: "to revoke the refresh token")
    }
    guard let access else { return }
    let refusal = try revoke(access, "access_token", at: endpoint)
    // RFC 7009 §2.2.1: some servers revoke refresh tokens alone.
    if let refusal, refresh == nil || refusal.word != "unsupported_token_type" {
      throw refusal.error(of: "to revoke the access token")
    }
  }

  /// Has the server revoke a token. One that it does not know counts as revoked (RFC 7009 §2.2).
  ///
  /// - Returns: What it refuses.
  private func revoke(
    _ token: SharedSecret, _ type: String, at endpoint: String
  ) throws(VaultError) -> OAuthRefusal? {
    var reply = try revokeOnce(token, type, at: endpoint, as: registration.tokenEndpoint)
    let isAsserted = [.clientSecretJWT, .privateKeyJWT].contains(registration.authentication)
    // Some servers take an assertion here only if it is for this endpoint.
    if isAsserted, [401, 403].contains(reply.status) {
      reply = try revokeOnce(token, type, at: endpoint, as: endpoint)
    }
    let refusal = OAuthRefusal(reply)
    return reply.isSuccess && !refusal.isStated ? nil : refusal
  }

  private func revokeOnce(
    _ token: SharedSecret, _ type: String, at endpoint: String, as audience: String
  ) throws(VaultError) -> OAuthReply {
    try post(.oauthRevoke, to: endpoint, as: audience) { form in
      form.set("token", token)
      form.set("token_type_hint", type)
    }
  }

  /// Begins what a person on another device agrees to (RFC 8628 §3.1).
  ///
  /// - Throws: ``VaultError/Code/unsupported`` where the server has nothing of the kind.
  func askForDeviceCode(_ scope: String?) throws(VaultError) -> OAuthReply {
    guard let endpoint = registration.deviceEndpoint else {
      throw VaultError(
        .unsupported, "the server asks no person on another device", hint: .useAuthorizationCode)
    }
    return try post(.oauthDevice, to: endpoint, as: registration.tokenEndpoint) { form in
      form.set("scope", scope)
    }
  }

  /// A request without a proof.
  private func post(
    _ operation: TransportOperation, to endpoint: String, as audience: String, _ fill: (OAuthForm) -> Void
  ) throws(VaultError) -> OAuthReply {
    let (form, headers) = (OAuthForm(), OAuthHeaders())
    fill(form)
    try identity.prove(form, headers, to: audience, in: core)
    return try core.send(
      operation, to: endpoint, headers: headers, body: form.copy(), over: transport, context: context)
  }
}

extension TokenRequest {
  /// Whether one of these tokens is one of those that are stored.
  func isStored(access: SharedSecret?, refresh: SharedSecret?) -> Bool {
    guard let stored = try? core.openTokens(of: client, context: context).record else { return false }
    return stored.refresh?.isSame(as: refresh) == true || stored.access.isSame(as: access)
  }
}

extension VaultCore {
  func tokenRequest(
    of client: ItemID, boundTo key: ItemID?, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> TokenRequest {
    try TokenRequest(self, of: client, boundTo: key, over: transport, context: context)
  }

  func nonces(of client: ItemID) throws(VaultError) -> DPoPNonces {
    var transaction = try beginReading()
    return DPoPNonces(try transaction.item(client))
  }

  /// Remembers the nonce of another server, such as one with resources.
  func remember(_ nonce: String, for target: HTTPTarget, of client: ItemID) throws(VaultError) {
    var transaction = try beginWriting()
    try transaction.remember(nonce, for: target, of: client)
    try transaction.commit()
  }
}

extension WriteTransaction {
  fileprivate mutating func remember(
    _ nonce: String, for target: HTTPTarget, of client: ItemID
  ) throws(VaultError) {
    var nonces = DPoPNonces(try item(client))
    guard nonces[target] != nonce else { return }
    nonces.note(nonce, for: target)
    var changes = ItemChanges()
    changes.attributes[.nonces] = nonces.attribute
    _ = try update(client, changes, secret: nil, by: .clientRegistration)
  }
}
