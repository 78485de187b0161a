import VaultFormat
import SecretMemory

/// Nobody: a source that has to ask somebody is told so.
struct NobodyPrompt: Prompt {
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes { throw Self.nobody }
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { throw Self.nobody }

  private static var nobody: VaultError { VaultError(.interactionNotAllowed, "there is nobody to ask") }
}
