package import AgentMessages
package import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
import VaultWords

/// Everything that a command gets from outside, so that a test can replace it.
package struct World: Sendable {
  package var environment: Environment
  package var standardInput: Int32 = 0
  package var standardOutput: Int32 = 1
  package var standardError: Int32 = 2
  /// Clocks, randomness and derivation costs of the vault itself.
  package var vault = VaultEnvironment.system
  /// The random bytes for generated secrets.
  package var random = RandomBytes.kernel
  /// Waits for this number of seconds.
  package var wait: @Sendable (UInt32) -> Void = { seconds in
    var rest = seconds
    while rest > 0 { rest = sleep(rest) }
  }
  /// What only the process that the person started can do.
  package var host: any Host
  /// Whether the command is to end early.
  package var interruption: Interruption
  /// The vaults that the agent keeps open; nil without an agent.
  package var vaults: (any OpenVaults)?
  /// The agent in which the command runs; nil without one.
  package var agent: (any AgentControl)?
  /// Where the keeper of this person is.
  package var keeper = KeeperPlace(of: getuid())
  /// Whether this is the keeper: what it judges holds against the programs of the person whom it serves.
  package var isKeeper = false
  /// The name of the agent's program, which is beside this one.
  package var agentProgram = "vaultd"
  /// The directory of the agent's socket without $XDG_RUNTIME_DIR; nil for none.
  package var standardRuntimeDirectory: String? = AgentPlace.standardRuntimeDirectory
  /// Whether SIGPIPE was ignored when the process of the command line began. A program that it becomes gets the same setting.
  package var ignoredBrokenPipes = false
  /// The same for SIGXFSZ, the signal for files that grow beyond a limit.
  package var ignoredFileSizeSignal = false
  package var patience = Patience()
  /// The data that a batch passes to one of its commands instead of standard input.
  var batchInput: BatchInput?

  /// - Parameter interruption: That of this process, if no other is given.
  package init(
    environment: Environment, host: (any Host)? = nil, interruption: Interruption = .ofProcess
  ) {
    self.environment = environment
    self.host = host ?? LocalHost(environment: environment)
    self.interruption = interruption
  }

  /// The host of a verb that runs in no agent.
  ///
  /// - Throws: Exit 9 in the agent, where a line of a batch can name such a verb.
  func localHost() throws(CommandError) -> LocalHost {
    guard let host = host as? LocalHost else {
      throw CommandError(
        .refused, "the agent does not run this command",
        hint: isKeeper
          ? "have an administrator run it: sudo vault-keeper run PERSON -- …"
          : "run it by itself, or the batch with --agent never", code: "notInAgent")
    }
    return host
  }

  /// Refuses standard output that is a file which others may read, for what holds secrets in clear.
  ///
  /// - Throws: Exit 9.
  func refuseExposedOutput(hint: String) throws(CommandError) {
    var status = stat()
    guard unsafe fstat(standardOutput, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_mode & 0o077 != 0
    else { return }
    throw CommandError(.refused, "standard output is a file that others may read", hint: hint)
  }

  /// The real world.
  package static var real: World { World(environment: .process) }
}

/// The data of one line of a batch, if it has any.
struct BatchInput: Sendable {
  let secret: SharedSecret?
}
