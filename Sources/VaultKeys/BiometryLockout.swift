/// Biometry stops after a few consecutive failures, until the passcode is right; a biokey, until its PIN is right. Each
/// attempt counts as a failure before it runs, and is forgiven if it is right, so an attempt that is killed stays counted.
package enum BiometryLockout {
  /// The number of consecutive failures that are allowed.
  package static let limit: UInt32 = 5

  /// Counts an attempt that is about to run; `false` if no attempt may run.
  package static func begin(_ failures: inout UInt32) -> Bool {
    guard failures < limit else { return false }
    failures += 1
    return true
  }

  /// The attempt was right, or the passcode or the PIN was.
  package static func succeed(_ failures: inout UInt32) { failures = 0 }

  /// The file was copied or restored, so the count says nothing about the attempts elsewhere.
  package static func lock(_ failures: inout UInt32) { failures = max(failures, limit) }

  /// The attempt never ran.
  package static func takeBack(_ failures: inout UInt32) {
    if failures > 0 { failures -= 1 }
  }
}
