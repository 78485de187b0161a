package import CommandLineKit
package import VaultKit

extension CommandError {
  /// What an error of the library means at the command line.
  package init(_ error: VaultError) {
    self.init(
      Self.exit(of: error.code), error.message, hint: error.advice.map(HintWords.sentence),
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
