package import VaultFormat

/// Biometry stops after a few consecutive failures, until the passcode is right. Each attempt counts as a failure
/// before it runs, and is forgiven if it is right, so an attempt that is killed stays counted.
package enum BiometryLockout {
  /// The number of consecutive failures that are allowed.
  package static let limit: UInt32 = 5

  /// Counts an attempt that is about to run; `false` if no attempt may run.
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
