import Foundation
import Synchronization

/// Runs what blocks on a thread of its own.
///
/// The threads of tasks are as many as the machine has cores, also those of tests. A task that blocks one of them may keep
/// the test from going on that it waits for.
package func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) -> Task<Value, any Error> {
  let (results, result) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
  Thread.detachNewThread {
    result.yield(Result { try body() })
    result.finish()
  }
  return Task {
    for await result in results { return try result.get() }
    throw CancellationError()
  }
}

/// Threads that meet: none goes on from there before each of the others is there too, or has ended. So all of them are in the
/// midst of the same thing at one moment, however slow the machine is.
package final class Crowd: Sendable {
  private let missing = Mutex<Set<pthread_t>>([])
  private let present = DispatchGroup()

  package init() {}

  /// Runs the body on so many threads, with the number of each, and waits until all have ended.
  package func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let ended = DispatchGroup()
    for _ in 0..<count {
      present.enter()
      ended.enter()
    }
    for number in 0..<count {
      Thread.detachNewThread { [self] in
        missing.withLock { _ = $0.insert(pthread_self()) }
        body(number)
        arrive()
        ended.leave()
      }
    }
    ended.wait()
  }

  /// Waits for the others, the first time that a thread of the crowd calls this. Any other thread goes on.
  package func meet() { if arrive() { present.wait() } }

  @discardableResult
  private func arrive() -> Bool {
    let isFirst = missing.withLock { $0.remove(pthread_self()) != nil }
    if isFirst { present.leave() }
    return isFirst
  }
}
