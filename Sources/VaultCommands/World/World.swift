package import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
package import VaultPrompts

/// Everything a command takes from outside, so that a test can hand it another one.
package struct World: Sendable {
  package var environment: Environment
  package var standardInput: Int32 = 0
  package var standardOutput: Int32 = 1
  package var standardError: Int32 = 2
  /// Clocks, randomness and derivation costs of the vault itself.
  package var vault = VaultEnvironment.system
  /// What generated secrets are made of.
  package var random = RandomBytes.kernel
  /// Waits so many seconds.
  package var wait: @Sendable (UInt32) -> Void = { seconds in
    var rest = seconds
    while rest > 0 { rest = sleep(rest) }
  }
  /// The terminal that prompts open by its name.
  package var terminalPath = "/dev/tty"
  /// Whether a broken pipe was to be ignored when this process began: what it turns into gets that back.
  var ignoredBrokenPipes = false
  /// The same for files that grow beyond a limit.
  var ignoredFileSizeSignal = false
  /// Members of the enrolled set that are no phrases: the login password, and fingers.
  package var presence = PAMPresence(service: "vault", helper: .installed)
  package var biometry: any BiometrySource = FprintdSource()
  /// How long a call of the Secret Service may take.
  package var secretServicePatience = SecretServiceProtector.usualPatience
  /// What a batch hands to one of its commands in place of standard input.
  var batchInput: BatchInput?

  package init(environment: Environment) { self.environment = environment }

  /// The world as it is.
  package static var real: World { World(environment: .process) }
}

/// The data of one line of a batch, if it has any.
struct BatchInput: Sendable {
  let secret: SharedSecret?
}
