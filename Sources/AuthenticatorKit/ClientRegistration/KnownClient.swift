import JOSE
package import SecretMemory
import VaultKit

/// The addresses of a server that does not describe itself (RFC 8414), as its documentation says. All are `https`, without a fragment, of
/// at most 2,048 bytes.
public struct ServerEndpoints: Sendable {
  /// Gives tokens, and gets the secret of the client.
  public var token: String
  /// Where a person agrees in a browser; needed for ``ClientGrant/authorizationCode``.
  public var authorization: String?
  /// Begins what a person on another device agrees to (RFC 8628).
  public var deviceAuthorization: String?
  /// Revokes tokens (RFC 7009).
  public var revocation: String?

  /// A server of which only the token endpoint is known.
  public init(token: String) { self.token = token }

  /// - Throws: ``VaultError/Code/malformed``.
  func check() throws(VaultError) {
    for address in [token, authorization, deviceAuthorization, revocation].compactMap(\.self) {
      guard RegistrationRecord.addressBytes.contains(address.utf8.count), ServerAddress.isEndpoint(address)
      else {
        throw VaultError(
          .malformed, "an address of the server is not https, or has a fragment or more than 2,048 bytes",
          hint: "give it as the documentation of the server has it")
      }
    }
  }
}

/// A client that the operator of a server has registered: servers that register none by themselves are most of those that people use.
package struct KnownClient: Sendable {
  /// Its id at the server.
  let client: String
  /// What it proves itself with, where that is no key.
  let secret: SharedSecret?

  package init(_ client: String, secret: SharedSecret? = nil) {
    (self.client, self.secret) = (client, secret)
  }

  /// - Throws: ``VaultError/Code/malformed``.
  func check(for new: NewClientRegistration) throws(VaultError) {
    guard RegistrationRecord.nameBytes.contains(client.utf8.count), VisibleText.flaw(inName: client) == nil
    else {
      throw VaultError(
        .malformed,
        "the id of the client is empty, longer than 255 bytes, or has characters that do not show",
        hint: "give it as the server has it")
    }
    guard (secret != nil) == new.authentication.needsSecret else {
      throw VaultError(
        .malformed, "the client needs a secret for this way to prove itself, and for no other way",
        hint: "give both or neither")
    }
    guard let secret else { return }
    guard RegistrationRecord.secretBytes.contains(secret.byteCount), secret.isPrintableASCII else {
      throw VaultError(
        .malformed,
        "the secret of the client is empty, longer than 1,024 bytes, or has other characters than ASCII",
        hint: "give it as the server has it")
    }
    guard new.authentication != .clientSecretJWT || secret.byteCount >= RegistrationAnswer.leastBytesToSign
    else {
      throw RegistrationAnswer.weakSecret
    }
  }
}
