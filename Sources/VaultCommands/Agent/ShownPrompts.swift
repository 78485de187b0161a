import Synchronization
import VaultKit

/// The prompts that the agent itself shows for one request, so that what ends a call to a person ends them too.
final class ShownPrompts: Sendable {
  private let all = Mutex<[PromptEnding]>([])

  /// Ends those that are open.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  func end() -> Bool {
    let open = all.withLock { $0.map { $0 } }
    for ending in open { ending.end() }
    return !open.isEmpty
  }

  fileprivate func add(_ new: PromptEnding) { all.withLock { $0.append(new) } }
  fileprivate func remove(_ old: PromptEnding) { all.withLock { $0.removeAll { $0 == old } } }
}

extension ClientLink {
  /// Runs `body`, which asks a person in this process. It ends with the client, with a signal of the client, and with ``cancel()``.
  ///
  /// - Parameter ended: The error where the answer is not wanted before anything is shown.
  func asking<R: ~Copyable, E: Error>(
    _ request: PromptRequest, ended: @autoclosure () -> E, _ body: (PromptRequest) throws(E) -> R
  ) throws(E) -> R {
    let ending = PromptEnding()
    shown.add(ending)
    defer { shown.remove(ending) }
    // Looked at after the adding: who ends prompts looks in the other order.
    guard !isGone, interruption.signal == nil, !takeCancel(), promptsEnd != .agentEnds else { throw ended() }
    let ticket = request.ending?.add { ending.end() }
    defer { if let ticket { request.ending?.remove(ticket) } }
    var request = request
    request.ending = ending
    return try body(request)
  }
}
