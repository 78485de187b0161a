import JOSE
package import SecretMemory
import TextFormats
package import VaultKit

/// Client registrations on the synchronous core. ``ClientRegistrations`` offers the same on the actor.
extension VaultCore {
  /// Registers a client, unless it is there already.
  package func registerClient(
    _ new: NewClientRegistration, token: SharedSecret? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> ClientRegistration {
    try new.check()
    let address = try ServerAddress(new.server)
    if let present = try present(new, at: address, context: context) { return present }
    let key = if let id = new.key { try describeClientKey(of: id).publicKey } else { nil as PublicKey? }
    let metadata = try serverMetadata(at: address, over: transport, context: context)
    guard let endpoint = metadata.registrationEndpoint else {
      throw VaultError(.unsupported, "the server registers no clients by itself", hint: .giveClient)
    }
    let headers = OAuthHeaders()
    if let token {
      guard token.isVisibleASCII, token.byteCount > 0 else {
        throw VaultError(.malformed, "the access token has characters that no header can have")
      }
      headers.set("Authorization", "Bearer", token.bytes)
    }
    let reply = try send(
      .oauthRegister, to: endpoint, headers: headers, body: new.request(key: key), over: transport,
      context: context)
    guard reply.isSuccess, !OAuthRefusal(reply).isStated else {
      throw .oauth(reply, of: "the registration")
    }
    let answer = try RegistrationAnswer(reply, to: new)
    if let end = answer.secretExpires, try expiryTime() >= end {
      throw VaultError(
        .policy, "the server gave a client secret that has expired already",
        hint: "compare the clock of this machine with the right time; tell the operator of the server")
    }
    return try store(
      new, answer, RegistrationRecord(new, answer, metadata), transport: transport.identity, context: context)
  }

  /// Keeps a client that is registered at its server already, unless it is here too.
  ///
  /// - Parameter endpoints: Of a server that does not describe itself.
  package func addClient(
    _ new: NewClientRegistration, _ known: KnownClient, at endpoints: ServerEndpoints? = nil,
    over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> ClientRegistration {
    try new.check()
    try known.check(for: new)
    try endpoints?.check()
    let address = try ServerAddress(new.server)
    if let present = try present(new, at: address, context: context) { return present }
    if let key = new.key { _ = try describeClientKey(of: key) }
    let metadata = try serverMetadata(at: address, or: endpoints, over: transport, context: context)
    let answer = RegistrationAnswer(known, as: new.authentication)
    return try store(
      new, answer, RegistrationRecord(new, answer, metadata), transport: transport.identity, context: context)
  }

  /// The registration that a new one would be. Where there is none, everything that can be refused is refused before the server is asked.
  private func present(
    _ new: NewClientRegistration, at address: ServerAddress, context: AuthenticationContext?
  ) throws(VaultError) -> ClientRegistration? {
    try ItemLimits.check(name: new.name)
    var transaction = try beginReading()
    let present = try transaction.registration(of: new, at: address.issuer)
    transaction.end()
    if present == nil { try permitAdding(new.item, by: .clientRegistration, context: context) }
    return present
  }

  /// The first process wins: what is there already stays.
  private func store(
    _ new: NewClientRegistration, _ answer: RegistrationAnswer, _ record: RegistrationRecord,
    transport: String, context: AuthenticationContext?
  ) throws(VaultError) -> ClientRegistration {
    var item = new.item
    item.attributes[.account] = record.client
    item.attributes[.issuer] = record.issuer
    item.attributes[.transport] = transport
    // What is there already stays, and needs no key.
    var look = try beginReading()
    let isThere = try look.registration(of: new, at: record.issuer) != nil
    look.end()
    var transaction = try beginWriting(
      isThere ? .free : .add(item, by: .clientRegistration), context: context)
    let result: ClientRegistration
    if let present = try transaction.reading.registration(of: new, at: record.issuer) {
      try transaction.log(
        .clientRegistered, item: transaction.item(present.id),
        detail: "another process was faster; unused at the server: \(record.client)")
      result = present
    } else {
      let added = try transaction.add(item, secret: record.data, by: .clientRegistration)
      try transaction.log(.clientRegistered, item: added, detail: record.client)
      result = try ClientRegistration(added, isNew: true, unaskedScope: answer.unaskedScope)
    }
    try transaction.commit()
    return result
  }

  /// The registrations. Opens no secret.
  package func clientRegistrations() throws(VaultError) -> [ClientRegistration] {
    var found: [ClientRegistration] = []
    for item in try items(matching: Query(.clientRegistration)) { found.append(try ClientRegistration(item)) }
    return found
  }

  /// Deletes a registration and its tokens.
  package func removeRegistration(
    _ id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    var transaction = try beginWriting(.delete(id), context: context) { (look) throws(VaultError) in
      _ = try ClientRegistration(look.item(id))
    }
    try transaction.delete(id)
    try transaction.commit()
  }

  /// A registration with what it proves itself with. The transport must be the one over which it was made.
  ///
  /// - Parameter transport: `nil` where no request is sent.
  func openRegistration(
    _ id: ItemID, over transport: (any Transport)?, context: AuthenticationContext?
  ) throws(VaultError) -> (item: Item, record: RegistrationRecord) {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    transaction.end()
    _ = try ClientRegistration(item)
    if let transport, let stored = item.attributes[.transport], stored != transport.identity {
      throw VaultError(
        .policy, "the client was registered through another transport",
        hint: "name that one, or register the client again")
    }
    var reading = try beginReading(.secret(.use, of: id, by: .clientRegistration), context: context)
    let secret = try reading.useSecret(of: item, by: .clientRegistration).intoSecret()
    let opened = try RegistrationRecord(secret)
    return (item, opened)
  }
}

extension ReadTransaction {
  /// The registration that a new one would be.
  ///
  /// - Throws: ``VaultError/Code/duplicateItem`` for the name of another item, and for the same template by another name.
  fileprivate mutating func registration(
    of new: NewClientRegistration, at issuer: String
  ) throws(VaultError) -> ClientRegistration? {
    if let item = try items(matching: Query(name: new.name)).first {
      guard item.kind == .clientRegistration, item.attributes[.template] == new.template else {
        throw VaultError(
          .duplicateItem, "an item of that name exists, and it is not a registration of this template",
          hint: "choose another name, or delete that item")
      }
      return try ClientRegistration(item)
    }
    for item in try items(matching: Query(.clientRegistration))
    where item.attributes[.template] == new.template && item.attributes[.issuer] == issuer {
      throw VaultError(
        .duplicateItem, "the template is registered at this server already, by another name",
        hint: "use that registration, whose name is \(VisibleText.escaped(item.name ?? ""))")
    }
    return nil
  }
}

extension NewClientRegistration {
  private var grants: [String] {
    switch grant ?? (redirect == nil ? .clientCredentials : .authorizationCode) {
    case .authorizationCode: ["authorization_code", "refresh_token"]
    case .clientCredentials: ["client_credentials"]
    }
  }

  /// The request (RFC 7591 §2).
  fileprivate func request(key: PublicKey?) throws(VaultError) -> SecretBytes {
    var jwks: JSON?
    if let key {
      do throws(JOSEError) {
        let jwk = try JWK(key.key, keyID: key.thumbprint).json().adding {
          Field("use", "sig")
          Field("alg", JWSAlgorithm(of: key.key).rawValue)
        }
        jwks = .object { Field("keys", JSON.array([jwk])) }
      } catch { throw VaultError(jose: error) }
    }
    let text = SecretText()
    let keys = jwks
    JSON.object {
      Field("client_name", name)
      Field("software_id", template)
      Field("token_endpoint_auth_method", authentication.rawValue)
      Field("grant_types", JSON.array(grants.map { .string($0) }))
      Field("response_types", JSON.array(grants.contains("authorization_code") ? [.string("code")] : []))
      if let redirect { Field("redirect_uris", JSON.array([.string(redirect)])) }
      if let scope { Field("scope", scope) }
      if let keys { Field("jwks", keys) }
    }.write(to: text)
    return text.copy()
  }
}

extension RegistrationRecord {
  fileprivate init(
    _ new: NewClientRegistration, _ answer: RegistrationAnswer, _ metadata: ServerMetadata
  ) {
    self.init(
      client: answer.client, issuer: metadata.issuer, tokenEndpoint: metadata.tokenEndpoint,
      authentication: answer.authentication, template: new.template)
    authorizationEndpoint = metadata.authorizationEndpoint
    (revocationEndpoint, deviceEndpoint) = (metadata.revocationEndpoint, metadata.deviceEndpoint)
    (secret, secretExpires) = (answer.secret, answer.secretExpires)
    (key, redirect, namesIssuer) = (new.key, new.redirect, metadata.namesIssuer)
  }
}
