import SecretMemory
import VaultKit

/// A window that lists items, and shows a secret after the person has typed what its access rule asks for.
final class SecretWindow: Prompt {
  private let vault: Vault
  private let ask: @Sendable (PromptRequest) -> SecretBytes?

  /// - Parameter ask: Opens a field and waits. It returns what was typed, or nil if the person closed the field.
  init(_ vault: Vault, ask: @escaping @Sendable (PromptRequest) -> SecretBytes?) {
    (self.vault, self.ask) = (vault, ask)
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    guard let typed = ask(request) else { throw VaultError(.cancelled, "the person closed the field") }
    return typed
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { ask(request) != nil }

  /// Lends the secret to `draw`, for the time of one call.
  func show(_ item: Item, draw: @Sendable (RawSpan) -> Void) async throws {
    let context = AuthenticationContext(reason: "show it in a window", prompt: self)
    try await vault.withSecret(of: item.id, context: context) { draw($0) }
  }
}
