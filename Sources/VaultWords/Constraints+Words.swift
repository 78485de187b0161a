package import VaultKit

extension Constraints {
  /// The words of `--access`, in the order of its help.
  package static let words: [(word: String, constraint: Constraints)] = [
    ("passcode", .devicePasscode), ("presence", .userPresence), ("biometry-any", .biometryAny),
    ("biometry-current-set", .biometryCurrentSet), ("application-password", .applicationPassword),
    ("or", .or), ("and", .and),
  ]

  package init(words: [String]) {
    self = Constraints(Self.words.filter { words.contains($0.word) }.map(\.constraint))
  }

  /// The words, as `--access` takes them.
  package var shown: [String] { Self.words.filter { contains($0.constraint) }.map(\.word) }
}

extension Item {
  /// Whether somebody is asked before it is used.
  package var isConstrained: Bool { !access.constraints.isEmpty }
}
