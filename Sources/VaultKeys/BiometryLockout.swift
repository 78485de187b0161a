package import VaultFormat

/// Biometry stops after a few failures in a row, until the passcode was right. Each attempt is counted as a failure
/// before it runs, and forgiven when it was right: one that was killed stays counted.
package enum BiometryLockout {
  /// Failures in a row that are allowed.
  package static let limit: UInt32 = 5

  /// Counts an attempt that is about to run; `false` where none may.
  package static func begin(_ state: inout VaultState) -> Bool {
    guard state.biometryFailures < limit else { return false }
    state.biometryFailures += 1
    return true
  }

  /// The attempt was right, or the passcode was.
  package static func succeed(_ state: inout VaultState) { state.biometryFailures = 0 }

  /// The attempt never ran.
  package static func takeBack(_ state: inout VaultState) {
    if state.biometryFailures > 0 { state.biometryFailures -= 1 }
  }
}
