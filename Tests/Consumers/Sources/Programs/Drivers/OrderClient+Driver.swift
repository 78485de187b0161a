import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let orderClient = Driver(name: "OrderClient") {
    let place = TemporaryVault()
    let vault = try place.make()
    let program = OrderClient(vault: vault, server: AuthorizationServer())
    let client = try await program.register()
    let again = try await program.register()
    try expect(client.isNew && !again.isNew && again.client == "client-1", "the client is registered once")
    let request = try await program.ask(client)
    try expect(request.url.contains("code_challenge_method=S256"), "the request has a challenge")
    do {
      _ = try await program.finish(
        request, SecretBytes(testing: "https://shop.example/back?code=c&state=another"))
      throw Unexpected(what: "the answer to another request is refused")
    } catch let error as VaultError { try expect(error.code == .policy, "its state is compared") }
    let tokens = try await program.finish(
      request, SecretBytes(testing: "https://shop.example/back?code=c&state=\(request.state)"))
    try expect(tokens.type == .dpop && tokens.canRefresh, "the tokens are bound")
    var (sent, proof) = ("", String?.none)
    try await program.get("https://api.example/orders", client) { headers in
      sent = headers.authorization.expose {
        unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
      proof = headers.proof
    }
    // The first access token was over at once.
    try expect(sent == "DPoP at-refreshed" && proof != nil, "the refreshed token is sent with a proof")
  }
}

/// An OAuth server in the same process, behind a transport to HTTP.
private struct AuthorizationServer: Transport {
  let identity = "app:as"

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    var body = ""
    switch request.operation {
    case .oauthMetadata:
      body = """
        {"issuer":"https://as.example","token_endpoint":"https://as.example/token",
         "authorization_endpoint":"https://as.example/authorize","registration_endpoint":"https://as.example/r"}
        """
    case .oauthRegister: body = #"{"client_id":"client-1","client_secret":"cs-5d1107ab"}"#
    default:
      let isFirst = Self.text(request.fields["bodyBase64"]).contains("grant_type=authorization_code")
      let token =
        isFirst ? #""at-first","expires_in":0,"refresh_token":"rt-1""# : #""at-refreshed","expires_in":60"#
      guard Self.text(request.fields["headersBase64"]).contains("DPoP: ") else {
        throw VaultError(peer: "OTHER", "there is no proof")
      }
      body = #"{"access_token":\#(token),"token_type":"DPoP"}"#
    }
    var fields = TransportFields()
    fields["status"] = .number(200)
    fields["bodyBase64"] = .secret(TransportSecret(SecretBytes(testing: body)))
    return TransportAnswer(fields)
  }

  private static func text(_ value: TransportValue?) -> String {
    guard case .secret(let secret)? = value else { return "" }
    return secret.expose { unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }
}
