package import ErrorRecovery

/// How a command ended: the exit code of the process, and what it means.
///
/// The codes here are those that a command line itself can end with. A tool adds its own in an extension.
package struct ExitCode: Hashable, Comparable, Sendable {
  package let rawValue: Int32
  /// What the manual says of it.
  package let meaning: String
  /// The machine-readable code of an error without a more exact code.
  package let defaultCode: String

  /// What the caller can do after an error that says nothing more exact; `nil` if the program alone can do nothing.
  let recovery: Recovery?

  package init(_ rawValue: Int32, meaning: String, code: String, recovery: Recovery? = nil) {
    self.rawValue = rawValue
    self.meaning = meaning
    defaultCode = code
    self.recovery = recovery
  }

  package static let done = ExitCode(0, meaning: "done", code: "done")
  package static let usage = ExitCode(2, meaning: "wrong usage", code: "usage", recovery: .startOver)
  package static let malformed = ExitCode(
    12, meaning: "input malformed", code: "malformed", recovery: .startOver)
  package static let io = ExitCode(
    13, meaning: "input or output failed (full disk, permissions)", code: "io")
  /// As shells end where a program cannot be run.
  package static let programNotRun = ExitCode(
    126, meaning: "the program to run cannot be run", code: "programNotRun", recovery: .startOver)
  /// As shells end where there is no such program.
  package static let programNotFound = ExitCode(
    127, meaning: "the program to run was not found", code: "programNotFound", recovery: .startOver)
  package static let interrupted = ExitCode(
    130, meaning: "interrupted by Ctrl-C outside a prompt", code: "interrupted",
    recovery: .startOver)

  package static func == (left: ExitCode, right: ExitCode) -> Bool { left.rawValue == right.rawValue }
  package static func < (left: ExitCode, right: ExitCode) -> Bool { left.rawValue < right.rawValue }
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
