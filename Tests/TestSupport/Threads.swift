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

/// Threads that meet: none goes on from there before each of the others is there too, waits, or has ended. So all of them are in
/// the midst of the same thing at one moment, however slow the machine is.
package final class Crowd: Sendable {
  /// Who is not there yet, and how often it has looked.
  private let missing = Mutex<[pthread_t: Int]>([:])
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
        missing.withLock { $0[pthread_self()] = 0 }
        body(number)
        arrive()
        ended.leave()
      }
    }
    ended.wait()
  }

  /// Waits for the others, the first time that a thread of the crowd calls this. Any other thread goes on.
  package func meet() { if arrive() { present.wait() } }

  /// Called by what a thread looks at while it waits, such as a clock: one that looks again and again waits for the others.
  package func look() {
    let looks = missing.withLock { missing in
      missing[pthread_self()]? += 1
      return missing[pthread_self()] ?? 0
    }
    if looks == Self.most { arrive() }
  }

  /// More looks than a thread makes before it waits or meets.
  private static let most = 20

  @discardableResult
  private func arrive() -> Bool {
    let isFirst = missing.withLock { $0.removeValue(forKey: pthread_self()) != nil }
    if isFirst { present.leave() }
    return isFirst
  }
}
