package import VaultKit

/// Why a command failed, and what its caller can do next. Never holds a secret or a refused word.
package struct CommandError: Error, Sendable {
  package let exit: ExitCode
  /// The machine-readable code, in camelCase, that `--json` prints.
  package let code: String
  package let message: String
  /// One line that says what to do next.
  package var hint: String?
  package var attemptsLeft: Int?
  /// Whole seconds, rounded up, until another try is worth while.
  package var retryAfterSeconds: Int64?
  /// How the prompt ended that this is about; nil where no person was asked.
  package var promptOutcome: PromptOutcome?

  package init(
    _ exit: ExitCode, _ message: String, hint: String? = nil, code: String? = nil,
    attemptsLeft: Int? = nil, retryAfterSeconds: Int64? = nil, prompt: PromptOutcome? = nil
  ) {
    self.exit = exit
    self.code = code ?? exit.defaultCode
    self.message = message
    self.hint = hint
    self.attemptsLeft = attemptsLeft
    self.retryAfterSeconds = retryAfterSeconds
    promptOutcome = prompt
  }

  package static func usage(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(.usage, message, hint: hint)
  }

  package static func malformed(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(.malformed, message, hint: hint)
  }

  /// What a later version will do.
  package static func unsupported(_ what: String) -> CommandError {
    CommandError(.unsupported, "\(what) is not supported by this version")
  }

  /// A failed system call, named by what was being done.
  package static func io(_ doing: String, errno code: Int32, hint: String? = nil) -> CommandError {
    CommandError(.io, "\(doing): \(systemMessage(code))", hint: hint)
  }
}

extension CommandError {
  /// The error object of `--json`.
  var json: JSON {
    var fields: [(String, JSON)] = [
      ("code", .string(code)), ("exit", .integer(Int64(exit.rawValue))), ("message", .string(message)),
    ]
    if let attemptsLeft { fields.append(("attemptsLeft", .integer(Int64(attemptsLeft)))) }
    if let retryAfterSeconds { fields.append(("retryAfter", .integer(retryAfterSeconds))) }
    if let hint { fields.append(("hint", .string(hint))) }
    return .object([("error", .object(fields))])
  }

  /// The lines a person reads: what went wrong, then what to do next.
  var lines: [String] {
    var first = message
    if let attemptsLeft {
      first += attemptsLeft == 1 ? " (1 attempt left)" : " (\(attemptsLeft) attempts left)"
    }
    if let retryAfterSeconds { first += "; try again in \(Durations.text(seconds: retryAfterSeconds))" }
    return [first] + (hint.map { [$0] } ?? [])
  }
}
