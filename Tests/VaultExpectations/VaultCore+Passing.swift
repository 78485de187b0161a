package import VaultKit
package import VaultTestKit

extension VaultCore {
  /// Lets time pass in a vault that is written to every hour, so that its recorded time follows.
  package func pass(_ time: Duration, on clock: FixedClock) throws {
    let hour = Duration.seconds(3600)
    var left = time
    while left > .zero {
      try write { transaction in
        _ = try transaction.delete(transaction.add(NewItem(.genericPassword, name: "an hour")).id)
      }
      clock.advance(by: min(left, hour))
      left -= min(left, hour)
    }
  }
}
