import Synchronization
import TestSupport
import Testing
import VaultKit

@Suite("The end of a request", .bounded, .requirement("L5"))
struct PromptEndingTests {
  // Verified to fail (by a stack overflow) when each end wakes the prompt again.
  @Test("a prompt is told to end once, also if it ends its context in turn")
  func once() {
    let ending = PromptEnding()
    let count = Atomic(0)
    let wake = { @Sendable in
      count.add(1, ordering: .relaxed)
      ending.end()
    }
    _ = ending.add(wake)
    ending.end()
    ending.end()
    expect(count.load(ordering: .relaxed), equals: 1)
    _ = ending.add(wake)
    ending.end()
    expect(count.load(ordering: .relaxed), equals: 2)
  }
}
