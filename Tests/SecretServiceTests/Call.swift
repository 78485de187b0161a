import Foundation
import Synchronization
import TestSupport
import VaultKit

/// A call on a thread of its own: the service that it waits for is in the hand of the test.
final class Call: Sendable {
  private let state = Mutex<(isOver: Bool, error: VaultError?)>((false, nil))

  init(_ body: @escaping @Sendable () throws(VaultError) -> Void) {
    Thread.detachNewThread { [self] in
      do throws(VaultError) {
        try body()
        state.withLock { $0.isOver = true }
      } catch { state.withLock { $0 = (true, error) } }
    }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Waits for the end. The error, if it failed.
  func wait() throws -> VaultError? {
    try waitUntil("the end of a call of the Secret Service") { isOver }
    return state.withLock { $0.error }
  }
}
