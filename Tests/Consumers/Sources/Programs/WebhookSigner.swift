import AuthenticatorKit
import VaultKit

/// Signs the messages to a shop, so that the shop knows from whom they are.
struct WebhookSigner: Sendable {
  let vault: Vault

  /// The key; made at the first call.
  func key() async throws -> ClientKey {
    let known = try await ClientKey.list(in: vault)
    guard known.contains(where: { $0.item.name == "webhooks" }) else {
      return try await ClientKey.generate(.ed25519, NewClientKey(name: "webhooks"), in: vault)
    }
    return try await ClientKey.named("webhooks", in: vault)
  }

  /// One signature for each message. The key is open once.
  func sign(_ messages: [[UInt8]]) async throws -> [[UInt8]] {
    let signer = try await key().signer()
    return try messages.map { try signer.sign($0) }
  }
}
