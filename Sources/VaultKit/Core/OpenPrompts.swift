import Synchronization

/// The prompts that are open for one owner, such as a vault, so that the owner can end them.
package final class OpenPrompts: Sendable {
  private let all = Mutex<[PromptEnding]>([])

  package init() {}

  package func add(_ prompt: PromptEnding) { all.withLock { $0.append(prompt) } }
  package func remove(_ prompt: PromptEnding) { all.withLock { $0.removeAll { $0 === prompt } } }

  /// Ends the prompts that are open now.
  package func end() {
    // A new array, because the thread sanitizer does not see the reference counts that order the uses of a shared
    // one.
    for prompt in all.withLock({ $0.map { $0 } }) { prompt.end() }
  }
}
