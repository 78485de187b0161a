import Dispatch
import SecretMemory
import Synchronization
import VaultKit
import VaultTestKit

/// A prompt, a reader and a presence source that stay open until the test answers. It waits without a clock.
final class HeldPrompt: Prompt, PresenceSource, BiometrySource {
  private let state = Mutex((answers: [String?](), cancels: 0))
  private let answered = DispatchSemaphore(value: 0)
  private let opened = AsyncStream<PromptRequest>.makeStream()
  private let ended = AsyncStream<Void>.makeStream()
  /// Whether `cancel()` ends it. A prompt of a stranger may ignore it.
  private let obeys: Bool

  init(obeys: Bool = true) { self.obeys = obeys }

  /// Waits until a request is open.
  @discardableResult
  func whenOpen() async -> PromptRequest? {
    for await request in opened.stream { return request }
    return nil
  }

  /// Waits until a request has returned.
  func whenEnded() async { for await _ in ended.stream { return } }

  /// How many times it was told to end.
  var cancels: Int { state.withLock { $0.cancels } }

  /// Answers a request; nil declines.
  func answer(_ text: String?) {
    state.withLock { $0.answers.append(text) }
    answered.signal()
  }

  func cancel() {
    state.withLock { $0.cancels += 1 }
    if obeys { answer(nil) }
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    SecretBytes(testing: try hold(request))
  }

  func confirm(_ request: PromptRequest) -> Bool { false }

  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    _ = try hold(request)
  }

  func enrolledFingers() -> [String] { ["thumb"] }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    try hold(request)
  }

  private func hold(_ request: PromptRequest) throws(VaultError) -> String {
    opened.continuation.yield(request)
    answered.wait()
    defer { ended.continuation.yield() }
    guard let text = state.withLock({ $0.answers.removeFirst() }) else {
      throw VaultError(.cancelled, "declined")
    }
    return text
  }
}
