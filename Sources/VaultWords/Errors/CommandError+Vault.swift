package import CommandLineKit
package import VaultKit

/// The module words the library for the command line. The library knows no exit code; the rooms of the tool share what is said
/// here, so that one value or error has one wording in every verb.
///
/// `Errors/` turns each error into a ``CommandError``: this file has the exit code for each code of a `VaultError`,
/// `CommandError+Describing.swift` takes any error, and `ExitCode+Vault.swift` lists the exit codes, which never change. A
/// hint of the library has the words of the tool already (`Hint`).
///
/// The other files have the words of options and listings (`ItemKind.word`, `Constraints.shown`), an item as JSON and
/// as lines, and ``Names``, which checks the names that a person gives. ``printable(_:)`` makes a text harmless for a
/// terminal.
extension CommandError {
  /// What an error of the library means at the command line.
  package init(_ error: VaultError) {
    self.init(
      Self.exit(of: error.code), error.message, hint: error.advice?.toolSentence,
      code: error.code.rawValue,
      attemptsLeft: error.attemptsLeft,
      retryAfterSeconds: error.retryAfter.map {
        $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0)
      }, prompt: error.promptEnd, recovery: error.recovery)
  }

  private static func exit(of code: VaultError.Code) -> ExitCode {
    switch code {
    case .itemNotFound, .invalidated, .deviceUnknown: .notFound
    case .duplicateItem, .vaultExists, .fileExists: .alreadyExists
    case .authenticationFailed, .alreadyUsed, .locked: .authenticationFailed
    case .lockedOut, .passcodeDelay, .biometryLocked, .biokeyLocked, .blocked: .blocked
    case .cancelled, .appCancelled, .timedOut: .cancelled
    case .interactionNotAllowed, .verificationNeeded: .interactionNotAllowed
    case .expired: .expired
    case .policy, .pinRefused, .pinReused, .wrongState, .sideFile: .refused
    case .damaged: .damaged
    case .deviceKeyAbsent, .deviceKeyLocked, .deviceKeyUnavailable, .deviceKeyWrong, .deviceKeyDamaged:
      .deviceKey
    case .malformed: .malformed
    case .vaultMissing: .noVault
    case .newerFormat, .olderFormat, .unsupported: .unsupported
    case .outOfStep: .outOfStep
    case .network: .network
    default: .io
    }
  }
}
