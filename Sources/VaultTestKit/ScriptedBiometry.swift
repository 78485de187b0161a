import Synchronization
public import VaultKit

/// A fingerprint reader that follows a script. For tests only.
public final class ScriptedBiometry: BiometrySource {
  /// The end of one verification.
  @nonexhaustive
  public enum Outcome: Sendable {
    /// This finger matched.
    case finger(String)
    /// The verification fails with this error.
    case failure(VaultError)
  }

  private struct State {
    var fingers: [String]
    var outcomes: [Outcome]
    var requests: [PromptRequest] = []
  }
  private let state: Mutex<State>

  /// - Parameters:
  ///   - fingers: The enrolled fingers.
  ///   - outcomes: The outcomes, in order. A call beyond the last one fails with `.authenticationFailed`.
  public init(fingers: [String], _ outcomes: [Outcome] = []) {
    state = Mutex(State(fingers: fingers, outcomes: outcomes))
  }

  /// Replaces the enrolled fingers.
  public func enroll(_ fingers: [String]) { state.withLock { $0.fingers = fingers } }

  /// The requests so far.
  public var requests: [PromptRequest] { state.withLock { $0.requests } }

  /// The enrolled fingers, ascending.
  public func enrolledFingers() -> [String] { state.withLock { $0.fingers.sorted() } }

  /// The next outcome.
  public func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError)
    -> String?
  {
    progress("place your finger on the reader")
    let outcome = state.withLock { state -> Outcome in
      state.requests.append(request)
      return state.outcomes.isEmpty ? .failure(.scripted) : state.outcomes.removeFirst()
    }
    switch outcome {
    case .finger(let finger): return finger
    case .failure(let error): throw error
    }
  }
}

extension VaultError {
  static var scripted: VaultError { VaultError(.authenticationFailed, "denied by the script") }

  /// An error with this code, for scripts of tests.
  public static func scripted(_ code: VaultError.Code) -> VaultError {
    VaultError(code, "as the script says")
  }
}
