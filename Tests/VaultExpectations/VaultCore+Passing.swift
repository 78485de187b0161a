package import VaultKit
package import VaultTestKit

extension VaultCore {
  /// Lets time pass in a vault that is written to every hour, or at most every day, so that its recorded time follows.
  package func pass(_ time: Duration, on clock: FixedClock, every step: Duration = .seconds(3600)) throws {
    var left = time
    while left > .zero {
      try write { transaction in
        _ = try transaction.delete(transaction.add(NewItem(.genericPassword, name: "an hour")).id)
      }
      clock.advance(by: min(left, step))
      left -= min(left, step)
    }
  }
}
