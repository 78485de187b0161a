package import Dispatch
package import VaultKit

/// Writes to the logs of vaults that they were locked, on other threads: the keys are wiped before.
package final class LockLog: Sendable {
  private let underWay = DispatchGroup()
  private let write: @Sendable (LockReason, VaultCore) -> Void

  /// - Parameter write: Writes one entry; a test watches it.
  package init(
    write: @escaping @Sendable (LockReason, VaultCore) -> Void = { $1.noteLock(reason: $0.rawValue) }
  ) { self.write = write }

  /// Begins to write an entry. One that cannot be written is lost.
  ///
  /// - Parameter then: Called when it was tried.
  package func note(_ reason: LockReason, in core: VaultCore, then: @escaping @Sendable () -> Void = {}) {
    let write = write
    DispatchQueue.global().async(group: underWay) {
      write(reason, core)
      then()
    }
  }

  /// Waits for what was begun.
  ///
  /// - Parameter longest: For so long; nil for two seconds, so that a disk that hangs holds no process.
  /// - Returns: Whether everything has ended.
  @discardableResult
  package func wait(atMost longest: DispatchTimeInterval? = nil) -> Bool {
    underWay.wait(timeout: .now() + (longest ?? .seconds(2))) == .success
  }
}
