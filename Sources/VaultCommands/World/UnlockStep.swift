import Synchronization

/// How a command unlocks the vault, where the library finds out that this is needed: once, and only while the command uses the vault.
final class UnlockStep: Sendable {
  private let step = Mutex<(@Sendable () -> Bool)?>(nil)

  /// Runs `body`. If something in it needs the unlocked vault, runs `step` once.
  func during<R: ~Copyable>(_ step: @escaping @Sendable () -> Bool, _ body: () throws -> R) rethrows -> R {
    let outer = self.step.withLock { present in
      defer { present = step }
      return present
    }
    defer { self.step.withLock { $0 = outer } }
    return try body()
  }

  /// Called by the vault, outside of every transaction.
  ///
  /// - Returns: Whether it was tried to unlock the vault, with success.
  func run() -> Bool {
    let step = step.withLock { step in
      defer { step = nil }
      return step
    }
    return step?() ?? false
  }
}
