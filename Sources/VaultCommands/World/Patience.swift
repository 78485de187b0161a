import CommandLineKit
import TransportPrograms
import VaultKit

/// How long a command waits for other programs. A test lets it wait longer, so that no result depends on how busy the
/// machine is.
package struct Patience: Sendable {
  /// A call of the Secret Service.
  package var secretService = SecretServiceProtector.usualPatience
  /// The answer of a transport.
  package var transport = TransportProgram.Limits().time
  /// What a command still does after a signal that ended its prompt, in whole seconds.
  package var afterSignal = 1
  /// The agent's word that it has taken a request.
  package var agent = Duration.seconds(2)
}
