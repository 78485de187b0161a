package import VaultKit
import VaultTestKit

extension VaultEnvironment {
  /// Lets the time pass after which a restored vault accepts its passcode. The clock must be a ``FixedClock``.
  package func passRestoreDelay() {
    guard let clock = clock as? FixedClock else {
      preconditionFailure("VaultEnvironment.passRestoreDelay(): the clock of the test does not stand")
    }
    clock.advance(by: .seconds(60))
  }
}
