import Synchronization
public import VaultKit

/// A fingerprint reader that does what a script says. For tests only.
public final class ScriptedBiometry: BiometrySource {
  /// What one verification ends with.
  public enum Outcome: Sendable {
    /// This finger matched.
    case finger(String)
    /// It fails so.
    case failure(VaultError)
  }

  private struct State {
    var fingers: [String]
    var outcomes: [Outcome]
    var requests: [PromptRequest] = []
  }
  private let state: Mutex<State>

  /// - Parameters:
  ///   - fingers: The enrolled ones.
  ///   - outcomes: In order; a call beyond the last fails with `.authenticationFailed`.
  public init(fingers: [String], _ outcomes: [Outcome] = []) {
    state = Mutex(State(fingers: fingers, outcomes: outcomes))
  }

  /// Enrols and removes: the set is these fingers from now on.
  public func enroll(_ fingers: [String]) { state.withLock { $0.fingers = fingers } }

  /// What was verified so far, or tried to be.
  public var requests: [PromptRequest] { state.withLock { $0.requests } }

  /// Ascending.
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

  /// An error of a code, for scripts of tests.
  public static func scripted(_ code: VaultError.Code) -> VaultError {
    VaultError(code, "as the script says")
  }
}
