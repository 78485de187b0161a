package import CommandLineKit

/// How a command ends. The program's `main` ends its process so, and nothing else does.
package enum Ending: Sendable, Equatable {
  case exit(ExitCode)
  /// As this signal ends a process.
  case signal(Int32)
}
