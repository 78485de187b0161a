/// How a command ended: the process exit codes of `vaultctl`, fixed for ever.
package enum ExitCode: Int32, CaseIterable, Sendable, Comparable {
  case done = 0
  case notFound = 1
  case usage = 2
  case authenticationFailed = 3
  case blocked = 4
  case cancelled = 5
  case interactionNotAllowed = 6
  case expired = 7
  case alreadyExists = 8
  case refused = 9
  case damaged = 10
  case deviceKey = 11
  case malformed = 12
  case io = 13
  case noVault = 14
  case unsupported = 15
  case network = 16
  case outOfStep = 17
  case interrupted = 130

  /// The meaning in the words of the manual.
  package var meaning: String {
    switch self {
    case .done: "done"
    case .notFound: "not found"
    case .usage: "wrong usage"
    case .authenticationFailed: "authentication failed"
    case .blocked: "locked out or blocked"
    case .cancelled: "cancelled at a prompt"
    case .interactionNotAllowed: "interaction needed but not allowed"
    case .expired: "expired or consumed"
    case .alreadyExists: "already exists"
    case .refused: "refused by policy"
    case .damaged: "vault damaged"
    case .deviceKey: "device key absent, locked, unavailable or wrong"
    case .malformed: "input malformed"
    case .io: "input or output failed (full disk, permissions)"
    case .noVault: "no vault at that path"
    case .unsupported: "not supported by this version"
    case .network: "network or peer failed"
    case .outOfStep: "out of step, needs resynchronisation"
    case .interrupted: "interrupted by Ctrl-C outside a prompt"
    }
  }

  /// The machine-readable code of an error that has no more exact one.
  package var defaultCode: String {
    switch self {
    case .done: "done"
    case .notFound: "itemNotFound"
    case .usage: "usage"
    case .authenticationFailed: "authenticationFailed"
    case .blocked: "blocked"
    case .cancelled: "cancelled"
    case .interactionNotAllowed: "interactionNotAllowed"
    case .expired: "expired"
    case .alreadyExists: "duplicateItem"
    case .refused: "policy"
    case .damaged: "damaged"
    case .deviceKey: "deviceKey"
    case .malformed: "malformed"
    case .io: "io"
    case .noVault: "vaultMissing"
    case .unsupported: "unsupported"
    case .network: "network"
    case .outOfStep: "outOfStep"
    case .interrupted: "interrupted"
    }
  }

  package static func < (left: ExitCode, right: ExitCode) -> Bool { left.rawValue < right.rawValue }
}
