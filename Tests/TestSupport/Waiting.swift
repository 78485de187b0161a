import Foundation
package import Testing

/// How long a test waits for something that must happen: one limit for all, so large that only what never happens meets it.
///
/// A shorter one would say how busy the machine is. What must *not* happen is never waited for: the test looks after an event that
/// comes later, or holds back what would be waited for.
package let patience: Duration = .seconds(300)

/// What did not happen within ``patience``.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String) { description = "did not happen within \(patience): \(what)" }
}

/// Looks again and again until something is so; blocks its thread.
///
/// - Parameter what: Names it in the error.
/// - Throws: ``NeverHappened``.
package func waitUntil(_ what: String, _ isSo: () throws -> Bool) throws {
  let end = ContinuousClock.now + patience
  while try !isSo() {
    guard ContinuousClock.now < end else { throw NeverHappened(what) }
    usleep(2_000)
  }
}

/// The same for a test whose thread others need: code that waits in tasks.
package func awaitUntil(_ what: String, _ isSo: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + patience
  while try await !isSo() {
    guard ContinuousClock.now < end else { throw NeverHappened(what) }
    try await Task.sleep(for: .milliseconds(2))
  }
}

extension Trait where Self == TimeLimitTrait {
  /// Each suite has it: a test without an end fails, and is named. What blocks its thread is ended by the runner two minutes later
  /// (docs/testing.md). The long forms of the torture tests take hours.
  package static var bounded: Self { .timeLimit(.minutes(isLongForm ? 24 * 60 : 10)) }
}

/// Whether the torture tests run in their long forms (`scripts/torture --long`).
package let isLongForm = unsafe getenv("TORTURE_LONG").map { unsafe String(cString: $0) } == "1"
