package import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
package import VaultPrompts

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
  /// The path of the terminal that prompts open.
  package var terminalPath = "/dev/tty"
  /// Whether SIGPIPE was ignored when this process began. A program that this process becomes gets the same setting.
  var ignoredBrokenPipes = false
  /// The same for SIGXFSZ, the signal for files that grow beyond a limit.
  var ignoredFileSizeSignal = false
  /// How members other than phrases are verified: the login password by PAM, fingers by the reader.
  package var presence = PAMPresence(service: "vault", helper: .installed)
  package var biometry: any BiometrySource = FprintdSource()
  package var patience = Patience()
  /// Waits for the seconds of `--copy` in the process that clears the clipboard; `nil` for the clock of this machine.
  package var clipboardWait: (@Sendable (_ seconds: Int64) -> Void)?
  /// The data that a batch passes to one of its commands instead of standard input.
  var batchInput: BatchInput?

  package init(environment: Environment) { self.environment = environment }

  /// The real world.
  package static var real: World { World(environment: .process) }
}

/// The data of one line of a batch, if it has any.
struct BatchInput: Sendable {
  let secret: SharedSecret?
}
