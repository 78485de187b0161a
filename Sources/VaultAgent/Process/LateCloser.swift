import Synchronization
import VaultKit

/// Closes descriptors of clients on a few threads of its own, so that a slow one does not hold up the main thread.
final class LateCloser: Sendable {
  private struct State {
    var waiting: [Int32] = []
    var threads = 0
  }

  private let state = Mutex(State())

  /// - Parameter end: Closes a descriptor.
  func close(_ descriptor: Int32, by end: @escaping @Sendable (Int32) -> Void) {
    let needsThread = state.withLock { state in
      state.waiting.append(descriptor)
      guard state.threads < Self.mostThreads else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    let code = startThread { [self] in
      while let next = next() { end(next) }
    }
    // Then the next one has its thread close this one too.
    if code != 0 { state.withLock { $0.threads -= 1 } }
  }

  /// - Returns: nil where none waits: the thread ends.
  private func next() -> Int32? {
    state.withLock { state in
      if let next = state.waiting.popLast() { return next }
      state.threads -= 1
      return nil
    }
  }

  private static let mostThreads = 8
}
