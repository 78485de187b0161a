package import VaultFormat
import Glibc

/// How long an operation is retried while other processes change the keys that it uses: about as long as a statement
/// waits for a lock, however often the keys change.
package struct KeyRace: ~Copyable {
  private var attempts = 0
  private var start = 0

  package init() {}

  /// Whether there is time for another attempt. Even a process that gets hardly any processor time makes some attempts.
  package mutating func mayTry() -> Bool {
    attempts += 1
    guard attempts > Self.fewest else { return true }
    if start == 0 { start = Self.now() }
    return Self.now() - start < Self.patience
  }

  private static let fewest = 8
  /// In seconds.
  private static let patience = 10

  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }

  package static var lost: VaultError {
    VaultError(.busy, "the vault's keys are being changed by another process", hint: "try again")
  }
}
