import OneTimePassword
import SecretMemory
import VaultKit

extension ItemState {
  /// The throttle as stored. After a reboot, its delay starts again.
  func throttle(at clocks: Clocks) -> Throttle {
    guard failures > 0 else { return Throttle() }
    var throttle = Throttle(failures: failures, lastFailure: Int64(clamping: failureBootMilliseconds / 1000))
    if failureBoot != clocks.bootID { throttle.restartDelay(at: clocks.boot) }
    return throttle
  }

  mutating func store(_ throttle: Throttle, at clocks: Clocks) {
    failures = throttle.failures
    failureBootMilliseconds = UInt64(clamping: (throttle.lastFailure ?? 0)) &* 1000
    failureBoot = throttle.lastFailure == nil ? [] : clocks.bootID
  }
}
