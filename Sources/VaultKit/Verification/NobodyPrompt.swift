import VaultFormat
import SecretMemory

/// A prompt for the case that no person can be asked. Each request throws.
struct NobodyPrompt: Prompt {
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes { throw Self.nobody }
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { throw Self.nobody }

  private static var nobody: VaultError { VaultError(.interactionNotAllowed, "there is nobody to ask") }
}
