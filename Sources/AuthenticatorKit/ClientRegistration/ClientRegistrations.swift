public import SecretMemory
public import VaultKit

// Read in this order:
//
// - `ClientRegistrations`, `NewClientRegistration`, `ClientRegistration`, `ClientAuthentication`, `ServerEndpoints`: what an
//   application uses. `TokenSets`: the tokens that a client gets.
// - `VaultCore+Registering.swift`: one registration. `RegistrationAnswer.swift`: what the server answers.
// - In `OAuth`: `ServerMetadata.swift`, `OAuthReply.swift`, `ClientIdentity.swift`, `VaultError+OAuth.swift`, which
//   tokens need too.

/// The clients of OAuth servers that this vault is, each registered once (RFC 7591) and used again from then on.
///
/// ```swift
/// let clients = ClientRegistrations(vault)
/// let new = NewClientRegistration("shop", template: "t1", server: "https://as.example")
/// let client = try await clients.register(new, over: transport)   // the second time: no request
/// ```
///
/// The secret of a client stays in the vault: it goes to its server alone.
public struct ClientRegistrations: Sendable {
  private let vault: Vault

  /// The registrations of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  /// Registers a client at its server, and stores what the server answers. A client of this name and template that is there
  /// already is returned, without a request.
  ///
  /// Where two processes register one client at once, the first to store it wins: the other one gets that registration. The
  /// client that the server made for the other one stays there, unused; its secret is forgotten, and the log has its id.
  ///
  /// - Parameters:
  ///   - new: The client, its server and its template.
  ///   - token: What permits the registration at a server that asks for it (the initial access token).
  ///   - transport: The way to the server, which speaks HTTP, such as `vault-http`.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the client key.
  /// - Throws: ``VaultError/Code/duplicateItem`` for the name of another item, and for a template that is registered at this
  ///   server by another name; ``VaultError/Code/malformed``; ``VaultError/Code/unsupported`` where the server registers no
  ///   clients; ``VaultError/Code/network``, ``VaultError/Code/policy`` and ``VaultError/Code/peerFailed`` for what the server
  ///   answers. Nothing is stored then.
  public func register(
    _ new: NewClientRegistration, token: consuming SecretBytes? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ClientRegistration {
    var box: SharedSecret?
    if let token = consume token { box = SharedSecret(token) }
    let shared = box
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.registerClient(new, token: shared, over: transport, context: context)
    }
  }

  /// Keeps a client that its server has registered by another way, such as a form for developers. A client of this name and template
  /// that is there already is returned, without a request.
  ///
  /// The server describes itself, as for a registration, and its issuer is compared. It is not asked whether it knows the client.
  ///
  /// - Parameters:
  ///   - new: The client. Its template is what you call it; its grant and its scope have no meaning here.
  ///   - client: Its id at the server, 1–255 bytes of UTF-8 whose characters are all visible.
  ///   - secret: What it proves itself with, 1–1,024 printable characters of ASCII; `nil` for
  ///     ``ClientAuthentication/none`` and ``ClientAuthentication/privateKeyJWT``.
  ///   - endpoints: The addresses of a server that does not describe itself. Show them to a person: the secret of the client goes there.
  ///   - transport: The way to the server, which speaks HTTP, such as `vault-http`.
  ///   - context: Gives the passcode of a locked vault, and verifies the person for the client key.
  /// - Throws: ``VaultError/Code/duplicateItem``, ``VaultError/Code/malformed``; ``VaultError/Code/policy`` where the server describes
  ///   itself with other addresses than the given ones; ``VaultError/Code/network`` and ``VaultError/Code/peerFailed`` for what the server
  ///   answers. Nothing is stored then.
  public func add(
    _ new: NewClientRegistration, client: String, secret: consuming SecretBytes? = nil,
    at endpoints: ServerEndpoints? = nil, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ClientRegistration {
    var box: SharedSecret?
    if let secret = consume secret { box = SharedSecret(secret) }
    let known = KnownClient(client, secret: box)
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.addClient(new, known, at: endpoints, over: transport, context: context)
    }
  }

  /// The registration with this name. Asks no person, also in a locked vault.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public func named(_ name: String) async throws(VaultError) -> ClientRegistration {
    try await vault.asking(nil) { core, _ throws(VaultError) in
      try ClientRegistration(core.item(named: name))
    }
  }

  /// The registrations, in the order in which they were made. Asks no person, also in a locked vault.
  public func list() async throws(VaultError) -> [ClientRegistration] {
    try await vault.asking(nil) { core, _ throws(VaultError) in try core.clientRegistrations() }
  }

  /// Deletes a registration and its tokens, here alone: ``TokenSets/revoke(_:over:context:)`` first revokes the tokens at the
  /// server.
  ///
  /// - Parameters:
  ///   - id: The registration.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``.
  public func remove(_ id: ItemID, context: AuthenticationContext? = nil) async throws(VaultError) {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.removeRegistration(id, context: context)
    }
  }
}
