import AuthenticatorKit
import SecretMemory
import VaultKit

/// Asks an API for orders, with tokens that are worth nothing without a key of this device.
struct OrderClient: Sendable {
  let vault: Vault
  let server: any Transport

  /// Registers the client, the first time. Later calls make no request.
  func register() async throws -> ClientRegistration {
    var new = NewClientRegistration("orders", template: "shop-app", server: "https://as.example")
    new.redirect = "https://shop.example/back"
    return try await ClientRegistrations(vault).register(new, over: server)
  }

  /// Begins a request for bound tokens. The person opens its `url` in a browser.
  func ask(_ client: ClientRegistration) async throws -> AuthorizationRequest {
    let key = try await ClientKey.generate(.p256, NewClientKey(name: "orders-key"), in: vault)
    return try await TokenSets(vault).begin(for: client.id, boundTo: key.id, scope: "orders")
  }

  /// Gets the tokens with the address to which the browser was sent.
  func finish(_ request: AuthorizationRequest, _ address: consuming SecretBytes) async throws -> TokenSet {
    try await TokenSets(vault).finish(request, with: address, over: server)
  }

  /// Lends the headers of one request to `send`. Tokens whose time is over are refreshed first.
  func get(
    _ url: String, _ client: ClientRegistration, send: (borrowing RequestAuthorization) throws -> Void
  ) async throws {
    let tokens = TokenSets(vault)
    do { try send(await tokens.authorization(for: client.id, method: "GET", url: url)) } catch let error
      as VaultError where error.code == .expired
    {
      try await tokens.refresh(client.id, over: server)
      try send(await tokens.authorization(for: client.id, method: "GET", url: url))
    }
  }
}
