import SecretMemory
import Synchronization
import VaultFormat

/// One call of the actor that may need a person, and how far it is.
///
/// The call first runs on the actor, without a person. Where it needs one, or a protector for new keys, it runs again
/// on a thread of its own (``run(_:)``). The end of its task ends it, except while it uses what the person opened: a
/// change of the vault is then made or not made, and the caller learns which.
package final class OpenCall: Sendable {
  private struct State {
    var mayAsk: Bool
    var needsPerson = false
    var isCancelled = false
    var isUsing = false
  }
  private let state: Mutex<State>
  /// The prompts of this call that are open.
  let prompts = OpenPrompts()

  /// - Parameter mayAsk: Whether a person may be asked and keys may be derived, because this thread may wait.
  init(mayAsk: Bool) { state = Mutex(State(mayAsk: mayAsk)) }

  /// Whether a call that must not wait was stopped because it needs a person.
  var needsPerson: Bool { state.withLock { $0.needsPerson } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Stops a call that must not wait, before it verifies anyone.
  func requirePerson() throws(VaultError) {
    let mayAsk = state.withLock { state in
      if !state.mayAsk { state.needsPerson = true }
      return state.mayAsk
    }
    guard mayAsk else { throw VaultError(.verificationNeeded, "the call has to wait for a person") }
  }

  /// Begins to use what was opened: from now on the caller waits for the end. False if the call was cancelled before.
  func beginUse() -> Bool {
    state.withLock { state in
      if !state.isCancelled { state.isUsing = true }
      return !state.isCancelled
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
