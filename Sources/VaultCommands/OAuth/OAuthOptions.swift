import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// What the verbs about clients of OAuth servers share.
enum OAuthOptions {
  static let key = Setting(
    "key", .name, "KEY", "The client key of private_key_jwt; its server gets the public half.")
  static let proofKey = Setting(
    "dpop", .name, "KEY",
    "The client key to which the tokens are bound (RFC 9449). Without it anybody can use them.")
  static let scope = Setting(
    "scope", .text, "S", "What the tokens are to permit, in the words of the server.")
  static let redirect = Setting(
    "redirect-uri", .text, "URL", "Where the server sends the browser of the person.")
  static let accessible = ItemOptions.accessible("When the registration and its tokens can be used.")

  /// A client key may ask for a person.
  static let channels = ItemOptions.accessChannels

  static let transportNote =
    "--transport is a program that speaks HTTP with the server, such as a configuration of vault-http with the mapping oauth. A client "
    + "has the transport over which it was registered; another one is refused (9)."
  static let errorNote =
    "What the server refuses has its own word in the message. invalid_grant is 7: get new tokens. invalid_client is 1. A server that is "
    + "slow or down, and an answer that it cannot mean, are 16; other refusals are 9 or 13. Nothing is stored then."
}

extension Command {
  /// The client key that an option names.
  func clientKey(_ option: Setting<String>) throws -> ItemID? {
    guard let name = self[option] else { return nil }
    do { return try vault.opened().describeClientKey(named: name).item.id } catch {
      guard (error as? VaultError)?.code == .itemNotFound else { throw error }
      throw CommandError(
        .notFound, "\(option.shown) names no client key", hint: "'vaultctl key list' shows the client keys")
    }
  }

  /// The registration that NAME means.
  func registration() throws -> ItemID { try target().id }

  /// Tells the person what a server permits although nothing asked for it.
  func note(unaskedScope scope: String?) {
    guard let scope else { return }
    messages.note("the server permits more than was asked for: \(printable(scope))")
  }

  /// The tokens of a client, without the tokens themselves.
  func outcome(_ tokens: TokenSet) throws -> Outcome {
    note(unaskedScope: tokens.unaskedScope)
    let key = try tokens.key.flatMap { try vault.opened().items(matching: Query(id: $0)).first?.name }
    let name = try vault.opened().items(matching: Query(id: tokens.registration)).first?.name
    return Outcome(
      json: .object {
        Field("id", tokens.id.hexadecimal)
        Field("registration", name ?? "")
        Field("type", tokens.type.rawValue)
        Field("scope", tokens.scope)
        Field("expires", tokens.expires?.seconds)
        Field("refresh", tokens.canRefresh)
        Field("idToken", tokens.hasIDToken)
        Field("key", key)
        Field("unaskedScope", tokens.unaskedScope)
      })
  }
}

/// The notes about what `--json` prints.
enum OAuthWords {
  static let tokens =
    "Prints nothing: 'oauth authorize-header' uses the tokens. With --json: id, registration, type (Bearer, DPoP), scope, expires (Unix "
    + "seconds), refresh and idToken (whether there is one), key, the name of the key of a bound set, and unaskedScope, what the "
    + "server permits beyond the scope that was asked for; standard error names that too."
}
