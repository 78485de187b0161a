package import ErrorRecovery
package import TextFormats

/// Why a command failed, and what its caller can do next. It never holds a secret or a refused argument.
package struct CommandError: Error, Sendable {
  package let exit: ExitCode
  /// The machine-readable code, in camelCase, that `--json` prints.
  package let code: String
  package let message: String
  /// One line that says what to do next.
  package var hint: String?
  package var attemptsLeft: Int?
  /// Whole seconds, rounded up, until another try can succeed.
  package var retryAfterSeconds: Int64?
  /// How the prompt ended that the error is about; `nil` when no person was asked.
  package var promptEnd: PromptEnd?

  /// What the error of the library says about the way to recover; `nil` where the exit code says it.
  private let givenRecovery: Recovery?

  /// What the caller can do. The action of what is not recoverable is the hint.
  package var recovery: Recovery {
    givenRecovery ?? exit.recovery ?? .nonRecoverable(action: hint ?? message)
  }

  /// How a prompt ended.
  package enum PromptEnd: UInt8, Sendable {
    case answered = 1
    case cancelled
    case signal
    case timeout
    case program
  }

  package init(
    _ exit: ExitCode, _ message: String, hint: String? = nil, code: String? = nil,
    attemptsLeft: Int? = nil, retryAfterSeconds: Int64? = nil, promptEnd: PromptEnd? = nil,
    recovery: Recovery? = nil
  ) {
    self.exit = exit
    self.code = code ?? exit.defaultCode
    self.message = message
    self.hint = hint
    self.attemptsLeft = attemptsLeft
    self.retryAfterSeconds = retryAfterSeconds
    self.promptEnd = promptEnd
    givenRecovery = recovery
  }

  package static func usage(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(.usage, message, hint: hint)
  }

  package static func malformed(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(.malformed, message, hint: hint)
  }

  /// The same error, which says first where in what was typed its reason is.
  package func located(at place: String) -> CommandError {
    CommandError(
      exit, "\(place): \(message)", hint: hint, code: code, attemptsLeft: attemptsLeft,
      retryAfterSeconds: retryAfterSeconds, promptEnd: promptEnd, recovery: givenRecovery)
  }

  /// A failed system call, named by what was being done.
  package static func io(_ doing: String, errno code: Int32, hint: String? = nil) -> CommandError {
    CommandError(.io, "\(doing): \(systemMessage(code))", hint: hint)
  }
}

extension CommandError {
  /// The error object of `--json`.
  package var json: JSON {
    .object { Field("error", details) }
  }

  private var details: JSON {
    .object {
      Field("code", code)
      Field("exit", exit.rawValue)
      Field("recovery", recovery.word)
      Field("condition", recovery.condition?.word)
      Field("message", message)
      Field("attemptsLeft", attemptsLeft)
      Field("retryAfter", retryAfterSeconds)
      Field("hint", hint)
    }
  }

  /// The lines that a person reads: what went wrong, then what to do next.
  package var lines: [String] {
    var first = message
    if let attemptsLeft, attemptsLeft > 0 {
      first += attemptsLeft == 1 ? " (1 attempt left)" : " (\(attemptsLeft) attempts left)"
    }
    if let retryAfterSeconds { first += "; try again in \(Durations.text(seconds: retryAfterSeconds))" }
    return [first] + (hint.map { [$0] } ?? [])
  }
}
