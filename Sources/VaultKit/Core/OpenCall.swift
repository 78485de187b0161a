import SecretMemory
import Synchronization
import VaultFormat

/// One call of the actor that may need a person, and how far it is.
///
/// It runs on a thread of its own (``run(_:)``), which may wait. The end of its task ends it while it waits for a person, a derivation
/// or a protector. While it uses what the person opened, and if it needs nobody, its caller waits for the end: a change of the vault is
/// then made or not made, and the caller learns which.
package final class OpenCall: Sendable {
  private struct State {
    var isCancelled = false
    var isUsing = true
  }
  private let state = Mutex(State())
  /// The prompts of this call that are open.
  let prompts = OpenPrompts()

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Begins to use what was opened: from now on the caller waits for the end. False if the call was cancelled while it waited.
  func beginUse() -> Bool {
    state.withLock { state in
      if !state.isCancelled { state.isUsing = true }
      return state.isUsing
    }
  }

  /// The call waits again, for a person, a derivation or a protector, and its caller need not.
  ///
  /// - Returns: Whether the call had begun to use what was opened.
  @discardableResult
  func endUse() -> Bool {
    state.withLock { state in
      defer { state.isUsing = false }
      return state.isUsing
    }
  }

  /// Cancels the call: its prompts end, and what it opens later is discarded.
  ///
  /// - Returns: Whether its caller need not wait for its end.
  func cancel() -> Bool {
    let isUsing = state.withLock { state in
      state.isCancelled = true
      return state.isUsing
    }
    prompts.end()
    return !isUsing
  }
}
