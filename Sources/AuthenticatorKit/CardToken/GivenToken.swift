import SecretMemory
import VaultKit

/// The token in the answer of a peer (`docs/guides/transport.md`, *Consents*), checked.
struct GivenToken {
  let secret: SharedSecret
  /// The token to store: its time is that of the peer, if that is shorter.
  let token: NewCardToken

  /// - Throws: ``VaultError/Code/network`` for members out of their bounds.
  init(_ answer: TransportFields, to new: NewCardToken) throws(VaultError) {
    secret = try TransportFields.required(
      "tokenBase64", answer.secret("tokenBase64", NewCardToken.secretBytes))
    var token = new
    if let seconds = try answer.number("lifeSeconds", 1...UInt64(NewCardToken.lifeSeconds.upperBound)) {
      token.timeToLive = min(new.timeToLive, .seconds(Int64(seconds)))
    }
    self.token = token
  }
}
