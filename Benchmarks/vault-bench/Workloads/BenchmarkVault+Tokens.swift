import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

/// Proofs of possession, and tokens that are taken.
extension BenchmarkVault {
  /// A proof for one request (DPoP) with a client key that is opened once.
  func proof() -> Workload {
    let signer = Box(
      must {
        let key = try core.generateClientKey(.p256, NewClientKey(name: newName("key")))
        return try core.signer(of: key.item.id)
      })
    let request = must { try ProofRequest(method: "POST", url: "https://server.example/token") }
    return Workload("DPoP proof, P-256") { _ = try signer.value.proof(for: request) }
  }

  /// Takes a card token whose use is on disk before it is returned.
  func takeToken() -> Workload {
    let id = must {
      var new = NewCardToken(newName("token"), timeToLive: .seconds(86_400))
      new.uses = .max
      return try core.storeToken(
        new, secret: SharedSecret(SecretBytes(testing: "a token of 32 bytes, or so it is"))
      ).id
    }
    return Workload("take a card token, durable") { [core] in _ = try core.takeToken(id) }
  }

  /// The tokens of an OAuth client, without constraint.
  func tokenSet() -> Workload {
    let client = must {
      var new = NewClientRegistration(newName("client"), template: newName("template"), server: Server.issuer)
      new.authentication = .clientSecretBasic
      let client = try core.registerClient(new, over: Server()).id
      _ = try core.requestTokens(for: client, over: Server())
      return client
    }
    return Workload("the tokens of a client") { [core] in _ = try core.tokenSet(of: client) }
  }

  /// Two secrets by the ids of their items, each in a separate state of the vault: what a client's tokens consist of.
  func twoSecrets() -> Workload {
    let ids = must { try (0..<2).map { try core.item(named: Self.name($0)).id } }
    return Workload("two secrets by id, each alone") { [core] in
      for id in ids { _ = try core.secret(of: id) }
    }
  }

  /// A name that the vault does not have yet.
  private func newName(_ what: String) -> String {
    next += 1
    return "\(what)-\(next)"
  }
}

/// An OAuth server in the same process.
private struct Server: Transport {
  static let issuer = "https://as.example"
  let identity = "app:benchmark"

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let body =
      switch request.operation {
      case .oauthMetadata:
        """
        {"issuer":"\(Self.issuer)","token_endpoint":"\(Self.issuer)/token","registration_endpoint":"\(Self.issuer)/register"}
        """
      case .oauthRegister: #"{"client_id":"client-1","client_secret":"a-secret-of-32-bytes-or-about-it"}"#
      default:
        #"{"access_token":"a-token-of-32-bytes-or-so-it-is","token_type":"Bearer","expires_in":2592000}"#
      }
    var fields = TransportFields()
    fields["status"] = .number(request.operation == .oauthRegister ? 201 : 200)
    fields["bodyBase64"] = .secret(TransportSecret(SecretBytes(copying: Array(body.utf8))))
    return TransportAnswer(fields)
  }
}
