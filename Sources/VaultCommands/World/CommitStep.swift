import Synchronization
import VaultKit

/// What an open vault does directly before its commits, and what one of them waits for.
final class CommitStep: Sendable {
  private let interruption: Interruption
  private let step = Mutex<(@Sendable () throws(VaultError) -> Void)?>(nil)

  /// - Parameter interruption: That of the command, which is asked before each commit.
  init(_ interruption: Interruption) { self.interruption = interruption }

  /// Runs `body`. Directly before its first commit that changes something, runs `step` once.
  func before<R>(
    _ step: @escaping @Sendable () throws(VaultError) -> Void, _ body: () throws -> R
  ) rethrows -> R {
    self.step.withLock { $0 = step }
    defer { self.step.withLock { $0 = nil } }
    return try body()
  }

  /// Called by the vault.
  ///
  /// - Parameter isChange: Whether the commit does more than count and log what was asked and looked at.
  /// - Throws: What a signal or the step throws: the commit is not made.
  func run(isChange: Bool) throws(VaultError) {
    try interruption.commit()
    guard isChange else { return }
    let step = step.withLock { step in
      defer { step = nil }
      return step
    }
    try step?()
  }
}
