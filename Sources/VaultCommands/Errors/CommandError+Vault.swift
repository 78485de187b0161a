import CommandLineKit
import VaultKit

extension CommandError {
  /// What an error of the library means at the command line.
  init(_ error: VaultError) {
    self.init(
      Self.exit(of: error.code), error.message, hint: error.hint, code: error.code.rawValue,
      attemptsLeft: error.attemptsLeft,
      retryAfterSeconds: error.retryAfter.map {
        $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0)
      }, prompt: error.promptEnd)
  }

  private static func exit(of code: VaultError.Code) -> ExitCode {
    switch code {
    case .itemNotFound: .notFound
    case .duplicateItem, .vaultExists: .alreadyExists
    case .authenticationFailed, .locked: .authenticationFailed
    case .lockedOut: .blocked
    case .cancelled: .cancelled
    case .interactionNotAllowed, .verificationNeeded: .interactionNotAllowed
    case .expired: .expired
    case .policy: .refused
    case .damaged: .damaged
    case .deviceKeyAbsent, .deviceKeyLocked, .deviceKeyUnavailable, .deviceKeyWrong, .deviceKeyDamaged:
      .deviceKey
    case .malformed: .malformed
    case .vaultMissing: .noVault
    case .newerFormat, .olderFormat, .unsupported: .unsupported
    case .outOfStep: .outOfStep
    default: .io
    }
  }
}
