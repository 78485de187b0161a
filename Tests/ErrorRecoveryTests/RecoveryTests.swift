import ErrorRecovery
import TestSupport
import Testing

@Suite("What a program can do after an error", .bounded)
struct RecoveryTests {
  /// The words are in JSON: they never change. Verified to fail when a word differs.
  @Test("each way and each condition has its word")
  func words() {
    let ways: [Recovery] = [.retryable(.whenUnlocked), .startOver, .nonRecoverable(action: "buy a disk")]
    expect(ways.map(\.word), equals: ["retryable", "startOver", "nonRecoverable"])
    let conditions: [RetryCondition] = [
      .after(.zero), .whenUnlocked, .whenOnline, .whenSynchronized, .whenSomebodyIsThere,
    ]
    expect(
      conditions.map(\.word),
      equals: ["after", "whenUnlocked", "whenOnline", "whenSynchronized", "whenSomebodyIsThere"])
  }

  @Test("only what can be retried has a condition")
  func conditions() {
    expect(Recovery.retryable(.after(.seconds(3))).condition, equals: .after(.seconds(3)))
    expect(Recovery.startOver.condition, equals: nil)
    expect(Recovery.nonRecoverable(action: "buy a disk").condition, equals: nil)
  }
}
