import Synchronization
import VaultFormat

/// How many prompts the callers of an open vault have open. One that asks for the same secret again and again would otherwise flood the
/// person with prompts, and the process with threads.
final class PromptBound: Sendable {
  private let open = Mutex<[Caller: Int]>([:])

  /// The largest number of open prompts of one caller.
  static let most = 8

  /// Counts a prompt that is about to open. This process itself, which has no caller, is not bounded.
  ///
  /// - Throws: ``VaultError/Code/busy`` if the caller has too many.
  func enter(_ caller: Caller?) throws(VaultError) {
    guard let caller else { return }
    let isFree = open.withLock { open in
      guard open[caller, default: 0] < Self.most else { return false }
      open[caller, default: 0] += 1
      return true
    }
    guard isFree else {
      throw VaultError(
        .busy, "process \(caller.process) has \(Self.most) prompts open already",
        hint: "answer one of them first",
        prompt: .notShown)
    }
  }

  func leave(_ caller: Caller?) {
    guard let caller else { return }
    open.withLock { open in
      let left = open[caller, default: 1] - 1
      open[caller] = left == 0 ? nil : left
    }
  }
}
