import JOSE
import SecretMemory
import VaultCrypto
import VaultKit

/// How a client proves who it is in each request to its server. Keys are opened once, and sign several requests.
struct ClientIdentity: Sendable {
  let registration: RegistrationRecord
  /// Of `private_key_jwt`.
  private let signer: OpenSigner?

  /// - Throws: ``VaultError/Code/expired`` for a secret whose time is over; the errors of the key.
  init(
    _ registration: RegistrationRecord, in core: VaultCore, context: AuthenticationContext?
  ) throws(VaultError) {
    if let end = registration.secretExpires, try core.expiryTime() >= end {
      throw VaultError(.expired, "the secret of the client has expired at the server", hint: .registerClient)
    }
    self.registration = registration
    signer =
      if let key = registration.key {
        try OpenSigner(key, in: core, to: "prove who this client is", context: context)
      } else { nil }
  }

  /// Adds what the server wants to see. An assertion has a name of its own, so each sending of a request needs this.
  ///
  /// - Parameter audience: Whom an assertion is for.
  func prove(
    _ form: OAuthForm, _ headers: OAuthHeaders, to audience: String, in core: VaultCore
  ) throws(VaultError) {
    let client = registration.client
    switch registration.authentication {
    case .none: form.set("client_id", client)
    case .clientSecretBasic: headers.setBasic(client, try secret())
    case .clientSecretPost:
      form.set("client_id", client)
      form.set("client_secret", try secret())
    case .clientSecretJWT:
      form.set("client_id", client)
      setAssertion(try sharedAssertion(audience, core), form)
    case .privateKeyJWT:
      guard let signer else { throw Self.unreadable }
      form.set("client_id", client)
      let assertion = try signer.signer.assertion(
        client: client, audience: audience, keyID: signer.signer.publicKey.thumbprint,
        at: core.environment.clock.now())
      setAssertion(SharedSecret(assertion), form)
    }
  }

  private func setAssertion(_ assertion: SharedSecret, _ form: OAuthForm) {
    form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    form.set("client_assertion", assertion)
  }

  private func sharedAssertion(_ audience: String, _ core: VaultCore) throws(VaultError) -> SharedSecret {
    let secret = try secret()
    do throws(JOSEError) {
      let assertion = try ClientAssertion(client: registration.client, audience: audience)
      let token = try assertion.unsignedForSecret(
        at: core.environment.clock.now().seconds, random: core.environment.random)
      return SharedSecret(token.signed(with: try MACKey(secret.bytes)))
    } catch { throw VaultError(jose: error) }
  }

  private func secret() throws(VaultError) -> SharedSecret {
    guard let secret = registration.secret else { throw Self.unreadable }
    return secret
  }

  private static var unreadable: VaultError {
    VaultError(
      .damaged, "the client registration has not what the client proves itself with", hint: .registerClient)
  }
}

/// A client key that is open for the requests of one call.
final class OpenSigner: Sendable {
  let signer: Signer

  /// - Throws: ``VaultError/Code/itemNotFound`` for a key that was deleted, and the errors of the key.
  init(
    _ key: ItemID, in core: VaultCore, to action: String, context: AuthenticationContext?
  ) throws(VaultError) {
    do throws(VaultError) { signer = try core.signer(of: key, to: action, context: context) } catch {
      guard error.code == .itemNotFound else { throw error }
      throw VaultError(
        .itemNotFound, "the client key that is needed is no longer in the vault", hint: .requestTokens)
    }
  }
}
