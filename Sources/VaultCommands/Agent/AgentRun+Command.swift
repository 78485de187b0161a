import AgentMessages
import CommandLineKit
import Glibc
import VaultWords

extension AgentRun {
  /// The request for a command line.
  ///
  /// - Returns: nil if it needs a vault and there is none: the command says so by itself.
  init?(_ invocation: Invocation, words: [String], in world: World, needsVault: Bool) {
    let places = Places(invocation: invocation, world: world)
    let path = (try? places.vault).flatMap(FilePlace.absolute)
    let identity = path.flatMap(VaultFiles.identity)
    guard identity != nil || !needsVault else { return nil }
    self.init(
      version: world.agentVersion, words: words, variables: Self.variables(Self.names, in: world.environment),
      vault: path.map { Vault(path: $0, identity: identity) },
      deviceKey: places.deviceKey.flatMap(FilePlace.absolute), ignoresBrokenPipes: world.ignoredBrokenPipes)
  }

  /// The request for a command line that means the vault in the keeper. The keeper believes nothing of the environment but how to print.
  init(toKeeper words: [String], in world: World) {
    self.init(
      version: world.agentVersion, words: words,
      variables: Self.variables(Self.printingVariables, in: world.environment),
      vault: Vault(path: world.keeper.vault, identity: nil), ignoresBrokenPipes: world.ignoredBrokenPipes)
  }

  /// What verbs read of the environment. None of it is a secret.
  private static let names = [
    "VAULTCTL_PATH", "VAULTCTL_DEVICE_KEY", "HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "CREDENTIALS_DIRECTORY", "NO_COLOR", "TERM", "DISPLAY", "WAYLAND_DISPLAY",
  ]

  private static func variables(
    _ names: [String], in environment: Environment
  ) -> [(name: String, value: String)] {
    names.compactMap { name in environment[name].map { (name, $0) } }
  }
}

extension World {
  /// What command and agent must have in common. The programs of tests are no agents of a person's commands.
  package var agentVersion: String {
    agentProgram == "vaultd" ? Version.tool : "\(Version.tool) with \(agentProgram)"
  }
}
