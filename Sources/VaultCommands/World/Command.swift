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

  package var secrets: Secrets { Secrets(invocation: invocation, world: world) }
  var places: Places { Places(invocation: invocation, environment: world.environment) }
  /// Clocks, randomness, derivation costs and protectors of the vault.
  var vaultWorld: VaultEnvironment { places.world(world.vault) }
  package var isJSON: Bool { messages.isJSON }

  func progress(_ title: String) -> Progress { Progress(title, on: messages.stream, isQuiet: isJSON) }
}
