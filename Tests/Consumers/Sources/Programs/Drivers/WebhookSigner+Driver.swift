import AuthenticatorKit
import VaultKit
import VaultTestKit

extension Driver {
  static let webhookSigner = Driver(name: "WebhookSigner") {
    let place = TemporaryVault()
    let vault = try place.make()
    let webhooks = WebhookSigner(vault: vault)
    let messages = (0..<100).map { Array("message \($0)".utf8) }
    let signatures = try await webhooks.sign(messages)
    let key = try await webhooks.key().publicKey
    for (message, signature) in zip(messages, signatures) { try key.verify(signature, of: message) }
    try expect(try await ClientKey.list(in: vault).count == 1, "the key is made once")
    try expect((try? key.verify(signatures[0], of: messages[1])) == nil, "each message has its own")
  }
}
