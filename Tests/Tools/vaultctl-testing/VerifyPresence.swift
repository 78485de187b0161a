import Glibc
import ToolTestKit
import VaultKit
import VaultPrompts
import VaultTestKit

/// `vaultctl-testing verify-presence FOLDER SERVICE ANSWER`: asks PAM with the services of a folder, answering every
/// question with the same words, and prints what came of it.
func verifyPresence() -> Never {
  let words = CommandLine.arguments
  guard words.count == 5 else { fatalError("usage: vaultctl-testing verify-presence FOLDER SERVICE ANSWER") }
  let presence = PAMPresence(service: words[3], helper: .testing(services: words[2]))
  let prompt = ScriptedPrompt(Array(repeating: .text(words[4]), count: 10))
  do throws(VaultError) {
    try presence.verifyPresence(PromptRequest(.presence, operation: "test"), asking: prompt)
    print("verified")
    exit(0)
  } catch {
    print("\(error.code.rawValue): \(error.message)")
    exit(3)
  }
}
