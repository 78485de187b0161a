import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

/// Proofs of possession, and tokens that are taken.
extension BenchmarkVault {
  /// A proof for one request (DPoP) with a client key that is opened once.
  public func proof() -> Workload {
    let signer = Box(
      must {
        let key = try core.generateClientKey(.p256, NewClientKey(name: newName("key")))
        return try core.signer(of: key.item.id)
      })
    let request = must { try ProofRequest(method: "POST", url: "https://server.example/token") }
    return Workload("DPoP proof, P-256") { _ = try signer.value.proof(for: request) }
  }

  /// Takes a card token whose use is on disk before it is returned.
  public func takeToken() -> Workload {
    let id = must {
      var new = NewCardToken(newName("token"), timeToLive: .seconds(86_400))
      new.uses = .max
      return try core.storeToken(
        new, secret: SharedSecret(SecretBytes(testing: "a token of 32 bytes, or so it is"))
      ).id
    }
    return Workload("take a card token, durable") { [core] in _ = try core.takeToken(id) }
  }

  /// A name that the vault does not have yet.
  private func newName(_ what: String) -> String {
    next += 1
    return "\(what)-\(next)"
  }
}
