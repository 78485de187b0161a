import Synchronization
import VaultKit

/// How many prompts each process has open, in all vaults, locked or not. A program that asks again and again would otherwise cover the
/// screen, and take a thread for each prompt.
///
/// A vault has the same bound for the prompts of its items. It does not know of the prompts that unlock it.
final class OpenPrompts: Sendable {
  private let open = Mutex<[Caller: Int]>([:])

  /// The largest number of open prompts of one process.
  static let most = 8

  /// Counts a prompt that is about to open.
  ///
  /// - Throws: ``VaultError/Code/busy`` if the process has too many.
  func begin(_ caller: Caller) throws(VaultError) {
    let isFree = open.withLock { open in
      guard open[caller, default: 0] < Self.most else { return false }
      open[caller, default: 0] += 1
      return true
    }
    guard isFree else {
      throw VaultError(
        .busy, "process \(caller.process) has \(Self.most) prompts open already",
        hint: "answer one of them first", prompt: .notShown)
    }
  }

  func end(_ caller: Caller) {
    open.withLock { open in
      let left = open[caller, default: 1] - 1
      open[caller] = left == 0 ? nil : left
    }
  }
}
