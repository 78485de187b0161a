import Synchronization
package import VaultFormat

/// How many prompts each caller has open. One that asks for the same secret again and again would otherwise flood the person with prompts,
/// and the process with threads.
///
/// An open vault bounds the prompts of its items. An agent bounds all of its prompts by another one: those that unlock a vault, too.
package final class PromptBound: Sendable {
  private let open = Mutex<[Caller: Int]>([:])

  /// The largest number of open prompts of one caller.
  static let most = 8

  package init() {}

  /// Counts a prompt that is about to open. This process itself, which has no caller, is not bounded.
  ///
  /// - Throws: ``VaultError/Code/busy`` if the caller has too many.
  package func enter(_ caller: Caller?) throws(VaultError) {
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

  package func leave(_ caller: Caller?) {
    guard let caller else { return }
    open.withLock { open in
      let left = open[caller, default: 1] - 1
      open[caller] = left == 0 ? nil : left
    }
  }
}
