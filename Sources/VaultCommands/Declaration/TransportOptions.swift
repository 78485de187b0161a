import CommandLineKit
import VaultWords

/// The option of verbs that ask a server.
enum TransportOptions {
  static let program = Setting(
    "transport", .path, "PROGRAM",
    "The program that takes requests to the server: an absolute path. 'docs/guides/transport.md' says how it talks."
  )

  /// How a command with this option can end because of what the server answers.
  static let exits: [ExitCode] = [
    .notFound, .authenticationFailed, .blocked, .expired, .refused, .malformed, .unsupported, .network,
    .outOfStep,
  ]
}
