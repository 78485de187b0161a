package import CommandLineKit
import ErrorRecovery

/// The exit codes of `vaultctl`. They never change.
extension ExitCode {
  package static let notFound = ExitCode(1, meaning: "not found", code: "itemNotFound", recovery: .startOver)
  package static let authenticationFailed = ExitCode(
    3, meaning: "authentication failed", code: "authenticationFailed", recovery: .startOver)
  package static let blocked = ExitCode(4, meaning: "locked out or blocked", code: "blocked")
  package static let cancelled = ExitCode(
    5, meaning: "cancelled at a prompt", code: "cancelled", recovery: .startOver)
  package static let interactionNotAllowed = ExitCode(
    6, meaning: "interaction needed but not allowed", code: "interactionNotAllowed",
    recovery: .retryable(.whenSomebodyIsThere))
  package static let expired = ExitCode(
    7, meaning: "expired or consumed", code: "expired", recovery: .startOver)
  package static let alreadyExists = ExitCode(
    8, meaning: "already exists", code: "duplicateItem", recovery: .startOver)
  package static let refused = ExitCode(9, meaning: "refused by policy", code: "policy", recovery: .startOver)
  package static let damaged = ExitCode(10, meaning: "vault damaged", code: "damaged")
  package static let deviceKey = ExitCode(
    11, meaning: "device key absent, locked, unavailable or wrong", code: "deviceKey")
  package static let noVault = ExitCode(14, meaning: "no vault at that path", code: "vaultMissing")
  package static let unsupported = ExitCode(15, meaning: "not supported by this version", code: "unsupported")
  package static let network = ExitCode(
    16, meaning: "network or peer failed", code: "network", recovery: .retryable(.whenOnline))
  package static let outOfStep = ExitCode(
    17, meaning: "out of step, needs resynchronisation", code: "outOfStep",
    recovery: .retryable(.whenSynchronized))

  /// All exit codes, in the order of the manual page.
  package static let all: [ExitCode] = [
    .done, .notFound, .usage, .authenticationFailed, .blocked, .cancelled, .interactionNotAllowed, .expired,
    .alreadyExists, .refused, .damaged, .deviceKey, .malformed, .io, .noVault, .unsupported, .network,
    .outOfStep, .programNotRun, .programNotFound, .interrupted,
  ]
}
