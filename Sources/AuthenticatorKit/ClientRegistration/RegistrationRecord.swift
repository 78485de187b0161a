package import SecretMemory
package import VaultKit

/// The data of a client registration (section 12): what an OAuth server knows this client as, and how it proves that.
package struct RegistrationRecord: Sendable {
  private enum Number {
    static let client: UInt16 = 1
    static let issuer: UInt16 = 2
    static let tokenEndpoint: UInt16 = 3
    static let authentication: UInt16 = 4
    static let authorizationEndpoint: UInt16 = 5
    static let revocationEndpoint: UInt16 = 6
    static let secret: UInt16 = 7
    static let secretExpires: UInt16 = 8
    static let key: UInt16 = 9
    static let redirect: UInt16 = 10
    static let template: UInt16 = 11
    static let namesIssuer: UInt16 = 12
    static let deviceEndpoint: UInt16 = 13
  }

  /// The bytes of a client, a template and an address.
  package static let nameBytes = 1...255
  package static let addressBytes = 1...2048
  package static let secretBytes = 1...1024

  /// The id of the client at the server.
  package var client: String
  package var issuer: String
  package var tokenEndpoint: String
  package var authentication: ClientAuthentication
  package var authorizationEndpoint: String?
  package var revocationEndpoint: String?
  /// Where a person on another device is sent from (RFC 8628).
  package var deviceEndpoint: String?
  package var secret: SharedSecret?
  /// `nil` for a secret that stays valid.
  package var secretExpires: Instant?
  /// The key of ``ClientAuthentication/privateKeyJWT``.
  package var key: ItemID?
  package var redirect: String?
  package var template: String
  /// Whether the server names itself in each redirection (RFC 9207): one without its name is of another server.
  package var namesIssuer = false

  package init(
    client: String, issuer: String, tokenEndpoint: String, authentication: ClientAuthentication,
    template: String
  ) {
    (self.client, self.issuer, self.tokenEndpoint) = (client, issuer, tokenEndpoint)
    (self.authentication, self.template) = (authentication, template)
  }

  /// - Throws: ``VaultError/Code/damaged``, ``VaultError/Code/unsupported`` for an authentication that this version does not know.
  package init(_ data: consuming SecretBytes) throws(VaultError) {
    let number: UInt8
    do throws(RecordError) {
      let fields = try SecretFields(data)
      client = try SecretFields.required(Number.client, fields.text(Number.client, Self.nameBytes))
      issuer = try SecretFields.required(Number.issuer, fields.text(Number.issuer, Self.addressBytes))
      tokenEndpoint = try SecretFields.required(
        Number.tokenEndpoint, fields.text(Number.tokenEndpoint, Self.addressBytes))
      number = try SecretFields.required(
        Number.authentication, fields.integer(Number.authentication, as: UInt8.self))
      authorizationEndpoint = try fields.text(Number.authorizationEndpoint, Self.addressBytes)
      revocationEndpoint = try fields.text(Number.revocationEndpoint, Self.addressBytes)
      deviceEndpoint = try fields.text(Number.deviceEndpoint, Self.addressBytes)
      secret = try fields.secret(Number.secret, Self.secretBytes)
      secretExpires = try fields.integer(Number.secretExpires, as: Int64.self).map {
        Instant(milliseconds: $0)
      }
      key = try fields.bytes(Number.key, 16...16).flatMap { ItemID($0) }
      redirect = try fields.text(Number.redirect, Self.addressBytes)
      template = try SecretFields.required(Number.template, fields.text(Number.template, Self.nameBytes))
      namesIssuer = try fields.integer(Number.namesIssuer, as: UInt8.self) == 1
      authentication = .none
    } catch {
      throw VaultError(
        .damaged, "the client registration is not readable", hint: "delete it, and register again")
    }
    guard let known = ClientAuthentication(number: number) else {
      throw VaultError(
        .unsupported, "the client proves who it is in a way that this version does not know",
        hint: .useNewerVersion)
    }
    authentication = known
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    var fields = SecretFieldWriter()
    fields.put(Number.client, client)
    fields.put(Number.issuer, issuer)
    fields.put(Number.tokenEndpoint, tokenEndpoint)
    fields.put(Number.authentication, Optional(authentication.number))
    fields.put(Number.authorizationEndpoint, authorizationEndpoint)
    fields.put(Number.revocationEndpoint, revocationEndpoint)
    fields.put(Number.secret, secret)
    fields.put(Number.secretExpires, secretExpires?.milliseconds)
    fields.put(Number.key, key?.bytes)
    fields.put(Number.redirect, redirect)
    fields.put(Number.template, template)
    fields.put(Number.namesIssuer, namesIssuer ? UInt8(1) : nil)
    fields.put(Number.deviceEndpoint, deviceEndpoint)
    return fields.data
  }
}
