import JOSE
public import VaultKit

/// What a client gets tokens for.
@nonexhaustive
public enum ClientGrant: String, Sendable, CaseIterable {
  /// A person agrees in a browser.
  case authorizationCode = "authorization_code"
  /// The client asks for itself.
  case clientCredentials = "client_credentials"
}

/// A client of an OAuth server, as it is registered there: everything but its secret.
public struct ClientRegistration: Sendable, Identifiable {
  /// The item that stores it.
  public let id: ItemID
  /// Its vault-wide name.
  public let name: String
  /// The template that it was made of, as the server names it.
  public let template: String
  /// Its id at the server.
  public let client: String
  /// What the server calls itself.
  public let issuer: String
  /// Whether this call registered it; false for one that was there.
  public let isNew: Bool
  /// What the server permits the client beyond the scope that was asked for, in the words of the server; `nil` where that is nothing,
  /// and where this call registered no client.
  public let unaskedScope: String?

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind.
  init(_ item: Item, isNew: Bool = false, unaskedScope: String? = nil) throws(VaultError) {
    guard item.kind == .clientRegistration else { throw .noRegistration }
    (id, name, self.isNew, self.unaskedScope) = (item.id, item.name ?? "", isNew, unaskedScope)
    template = item.attributes[.template] ?? ""
    client = item.attributes[.account] ?? ""
    issuer = item.attributes[.issuer] ?? ""
  }

  /// Whether a server that a person names, by its issuer or the address of its metadata, is the one of this registration.
  package func isRegistered(at server: String) -> Bool {
    (try? ServerAddress(server))?.issuer.isSame(as: issuer) ?? false
  }
}

/// A client to register.
public struct NewClientRegistration: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// The template of the client, as the server names it: `software_id` (RFC 7591 §2), 1–255 bytes.
  public var template: String
  /// The issuer of the server, or the address of its metadata (RFC 8414).
  public var server: String
  /// How the client is to prove who it is; ``ClientAuthentication/privateKeyJWT`` where there is a ``key``.
  public var authentication: ClientAuthentication
  /// The client key of ``ClientAuthentication/privateKeyJWT``; the server gets its public half.
  public var key: ItemID?
  /// Where the server sends the browser of the person, an absolute address without a fragment; needed for
  /// ``ClientGrant/authorizationCode``.
  public var redirect: String?
  /// What the client gets tokens for; `nil`: for a person if there is a ``redirect``, else for itself.
  public var grant: ClientGrant?
  /// What the tokens are to permit, in the words of the server; `nil` for what it permits by itself.
  public var scope: String?
  /// When the registration and its tokens can be used.
  public var accessibility = Accessibility.whenUnlocked

  /// A client that gets a secret.
  public init(_ name: String, template: String, server: String) {
    (self.name, self.template, self.server) = (name, template, server)
    authentication = .clientSecretBasic
  }

  /// - Throws: ``VaultError/Code/malformed``.
  func check() throws(VaultError) {
    let texts = [
      (template, RegistrationRecord.nameBytes), (scope ?? "-", 1...TokenSetRecord.scopeBytes.upperBound),
    ]
    guard texts.allSatisfy({ $1.contains($0.utf8.count) && VisibleText.flaw(inName: $0) == nil }) else {
      throw VaultError(
        .malformed, "template and scope are neither empty nor long, and all their characters show",
        hint: "give them as the server has them")
    }
    guard (key != nil) == (authentication == .privateKeyJWT) else {
      throw VaultError(
        .malformed, "a key is for private_key_jwt, and that needs one", hint: "give both or neither")
    }
    if let redirect { try RedirectAddress.check(redirect) }
    guard grant != .authorizationCode || redirect != nil else { throw RedirectAddress.missing }
  }

  var item: NewItem {
    var attributes = Attributes()
    attributes[.template] = template
    return NewItem(
      .clientRegistration, name: name, attributes: attributes, access: AccessControl(accessibility))
  }
}

extension VaultError {
  static var noRegistration: VaultError {
    VaultError(.itemNotFound, "there is no such client registration", hint: .registerClient)
  }
}
