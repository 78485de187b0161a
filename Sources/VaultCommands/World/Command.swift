package import CommandLineKit
import Glibc
import VaultKit

/// One command while it runs: what was asked for and the world it runs in.
package struct Command {
  package let invocation: Invocation
  package let world: World
  package let messages: Messages
  /// Shared by the commands of a batch.
  let vault: OpenVault
  /// Prints a result before the command ends, for those that go on.
  let emit: (Outcome) throws(CommandError) -> Void

  package var secrets: Secrets { Secrets(invocation: invocation, world: world, known: vault.given) }
  var places: Places { Places(invocation: invocation, world: world) }
  /// Clocks, randomness, derivation costs and protectors of the vault.
  var vaultWorld: VaultEnvironment { places.world(world.vault) }
  package var isJSON: Bool { messages.isJSON }

  /// Whether a person is at a terminal and sees what this command prints.
  var isOnTerminal: Bool { isatty(world.standardInput) == 1 && isatty(world.standardOutput) == 1 }

  /// Whether the person agrees; `false` also without an answer.
  func confirm(_ operation: String) -> Bool {
    (try? CommandPrompt(secrets: secrets).confirm(PromptRequest(.confirmation, operation: operation)))
      ?? false
  }

  func progress(_ title: String) -> Progress {
    Progress(of: "vaultctl", title, on: messages.stream, isQuiet: isJSON)
  }
}
