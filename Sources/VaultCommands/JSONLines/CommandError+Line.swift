import CommandLineKit

extension CommandError {
  /// The same error with the line it is about.
  func inLine(_ number: Int) -> CommandError {
    CommandError(
      exit, "line \(number): \(message)", hint: hint ?? "nothing was imported", code: code)
  }
}
