import Synchronization
public import VaultKit

/// A presence source that follows a script. For tests only.
public final class ScriptedPresence: PresenceSource {
  private let state: Mutex<(outcomes: [VaultError?], requests: [PromptRequest])>

  /// - Parameter outcomes: The outcomes, in order; nil means that the user is there. A call beyond the last one fails
  ///   with `.authenticationFailed`.
  public init(_ outcomes: [VaultError?]) { state = Mutex((outcomes, [])) }

  /// The requests so far.
  public var requests: [PromptRequest] { state.withLock { $0.requests } }

  /// The next outcome.
  public func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    let outcome = state.withLock { state -> VaultError? in
      state.requests.append(request)
      return state.outcomes.isEmpty ? VaultError.scripted : state.outcomes.removeFirst()
    }
    if let outcome { throw outcome }
  }
}
