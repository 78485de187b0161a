package import VaultKit

/// What the document says of every combination of the seven flags, written down a second time.
package enum ConstraintTable {
  package static let flags: [Constraints] = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .or, .and, .applicationPassword,
  ]

  /// The combination whose number has these bits set, 0 to 127.
  package static func combination(_ number: Int) -> Constraints {
    Constraints(flags.enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element))
  }

  /// Whether a rule does not contradict itself.
  package static func isLegal(_ constraints: Constraints) -> Bool {
    let single = [Constraints.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode]
      .filter { constraints.contains($0) }
    if constraints.isSuperset(of: [.or, .and]) { return false }
    if constraints.isSuperset(of: [.biometryAny, .biometryCurrentSet]) { return false }
    if constraints.contains(.userPresence), single.count > 1 { return false }
    if !constraints.isDisjoint(with: [.or, .and]), single.count < 2 { return false }
    return true
  }

  /// Whether an item of a legal rule can be added at all.
  package static func isPossible(
    _ constraints: Constraints, hasPasscode: Bool, hasBiometry: Bool
  ) -> Bool {
    if !hasPasscode { return constraints.subtracting(.applicationPassword).isEmpty }
    return hasBiometry || constraints.isDisjoint(with: [.biometryAny, .biometryCurrentSet])
  }

  /// A set of what somebody shows.
  package struct Shown: OptionSet, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let passcode = Shown(rawValue: 1)
    /// The phrase or the finger of a member.
    package static let member = Shown(rawValue: 2)
    package static let password = Shown(rawValue: 4)

    package var description: String { "\(rawValue)" }

    /// Whether this opens an item, in an unlocked vault.
    package func opens(_ constraints: Constraints) -> Bool {
      if constraints.contains(.applicationPassword), !contains(.password) { return false }
      var parts: [Bool] = []
      if constraints.contains(.userPresence) { parts.append(!isDisjoint(with: [.passcode, .member])) }
      if constraints.contains(.biometryAny) { parts.append(contains(.member)) }
      if constraints.contains(.biometryCurrentSet) { parts.append(contains(.member)) }
      if constraints.contains(.devicePasscode) { parts.append(contains(.passcode)) }
      return constraints.contains(.or) ? parts.contains(true) : !parts.contains(false)
    }
  }
}
