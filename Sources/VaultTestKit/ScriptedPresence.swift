import Synchronization
public import VaultKit

/// A presence source that does what a script says. For tests only.
public final class ScriptedPresence: PresenceSource {
  private let state: Mutex<(outcomes: [VaultError?], requests: [PromptRequest])>

  /// - Parameter outcomes: In order, nil for "there"; a call beyond the last fails with `.authenticationFailed`.
  public init(_ outcomes: [VaultError?]) { state = Mutex((outcomes, [])) }

  /// What was verified so far, or tried to be.
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
