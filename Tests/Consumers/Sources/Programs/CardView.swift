import AuthenticatorKit
import SecretMemory
import VaultKit

/// Shows a card after the person consented: once, in one viewing session.
struct CardView: Sendable {
  let vault: Vault
  let issuer: any Transport
  let session: ViewingSession

  /// Has the issuer send a code to the person.
  func ask(for card: String, of user: String) async throws -> CardConsent {
    let new = NewConsent("view-\(card)", user: user, card: card)
    return try await CardConsents(vault).request(new, session: session, over: issuer)
  }

  /// Gives the code to the issuer, and keeps the token for one use within a minute.
  func confirm(_ consent: CardConsent, typed: consuming SecretBytes) async throws -> CardToken {
    try await CardConsents(vault).confirm(
      consent.id, with: ConsentCode(typed),
      storing: NewCardToken("\(consent.name)-token", timeToLive: .seconds(60)), session: session,
      over: issuer)
  }

  /// Lends the token to the view, once. That it was used is on the disk before.
  func show(_ token: CardToken, in view: (RawSpan) throws -> Void) async throws {
    let secret = try await CardTokens(vault).take(token.id, session: session)
    try secret.expose(view)
  }

  /// What is left of the session is deleted.
  func close() async throws { try await CardTokens(vault).close(session) }
}
