import AuthenticatorKit
import SecretMemory
import VaultKit

/// A checkout with 3-D Secure: a challenge for each order that needs one.
struct CardCheckout: Sendable {
  let vault: Vault

  private var challenges: CardChallenges { CardChallenges(vault) }

  /// Begins the challenge that the lookup asks for. Returns whether there is one.
  func begin(_ order: String, lookup: CardLookup, request: CardChallengeRequest) async throws -> Bool {
    guard lookup.asksForChallenge else { return false }
    try await challenges.begin(request, named: order, after: lookup)
    return true
  }

  /// Takes the answer. Returns the token for the server; `nil` if the payment ends here.
  func finish(_ order: String, token: consuming SecretBytes) async throws -> SecretBytes? {
    let answer = try await challenges.receive(token, for: order)
    if answer.outcome.isForServer { return try await challenges.tokenForServer(of: order) }
    try await challenges.end(order)
    return nil
  }
}

/// The server of the shop: it alone has the key, and says whether the answer is true.
struct CardServer: ~Copyable {
  let key: ServerKey

  func isPaid(
    _ token: borrowing SecretBytes, _ request: CardChallengeRequest, at now: Instant
  ) throws -> Bool {
    try key.verify(token, answering: request, at: now).outcome == .success
  }
}
