import Synchronization

/// Whether the answer to one request is still wanted. The call that asks and the prompt that is open share it.
///
/// A call can end at any moment, also before its prompt is on the screen. So an ending stays ended, and a prompt that
/// opens later than the end learns of it at once.
package final class PromptEnding: Sendable, Equatable {
  private struct State {
    var isEnded = false
    var wakes: [UInt64: @Sendable () -> Void] = [:]
    var next: UInt64 = 0
  }
  private let state = Mutex(State())

  package init() {}

  /// Whether the answer is no longer wanted.
  package var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Calls `wake` once when the answer is no longer wanted, on any thread; at once if that is so already.
  ///
  /// - Returns: The ticket for ``remove(_:)``.
  package func add(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
    let (ticket, isEnded) = state.withLock { state in
      state.next += 1
      if !state.isEnded { state.wakes[state.next] = wake }
      return (state.next, state.isEnded)
    }
    if isEnded { wake() }
    return ticket
  }

  /// Forgets a `wake`. A call of it that has begun may still run.
  package func remove(_ ticket: UInt64) { state.withLock { $0.wakes[ticket] = nil } }

  /// Ends the prompt. Only the first call does something: a prompt that is told to end can end its context in turn, and
  /// a prompt that stays open must not end the next one of the same value.
  package func end() {
    let wakes = state.withLock { state in
      state.isEnded = true
      defer { state.wakes = [:] }
      return Array(state.wakes.values)
    }
    for wake in wakes { wake() }
  }

  package static func == (one: PromptEnding, other: PromptEnding) -> Bool { one === other }
}
