import Synchronization
import VaultKeys

/// Those who listen to the events of an open vault. The streams end with the vault.
final class VaultEvents: Sendable {
  private struct State {
    var next: UInt64 = 0
    var listeners: [UInt64: AsyncStream<VaultEvent>.Continuation] = [:]
  }
  private let state = Mutex(State())

  /// A stream that has every event from now on, until it is no longer used.
  func stream() -> AsyncStream<VaultEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: VaultEvent.self, bufferingPolicy: .unbounded)
    let ticket = state.withLock { state in
      state.next += 1
      state.listeners[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: ticket) }
    }
    return stream
  }

  /// Called under the mutex of the latch, so that all listeners have the order in which the vault changed.
  func send(_ event: VaultEvent) {
    state.withLock { state in
      for listener in state.listeners.values { listener.yield(event) }
    }
  }

  deinit {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
