import Synchronization
import VaultKit

/// Keeps what the library refused, for a page that a service shows to its operator: no line has a name or a path.
final class RefusalWatch: Sendable {
  private let lines = Mutex<[String]>([])

  /// The refusals since ``start()``, the oldest first.
  var refusals: [String] { lines.withLock { $0 } }

  /// Takes the place of every other log of this process.
  func start() {
    let sink = VaultLog.Sink { [weak self] line in self?.lines.withLock { $0.append(line.description) } }
    VaultLog.start([.vaultAccess, .authHTTP], level: .warning, to: [sink])
  }
}
