import Synchronization
import VaultCommands

/// The requests whose person is being asked for the passcode of a vault. When one of them has unlocked it, the prompts of the others
/// end, and they go on.
final class WaitingRequests: Sendable {
  private let all = Mutex<[(request: AgentRequest, file: FileIdentity)]>([])

  func begin(_ request: AgentRequest, for file: FileIdentity) {
    all.withLock { $0.append((request, file)) }
  }

  func remove(_ request: AgentRequest) {
    all.withLock { $0.removeAll { $0.request === request } }
  }

  /// Ends the prompts for one vault.
  func end(for file: FileIdentity, but unlocker: AgentRequest) {
    all.withLock { all in
      for waiting in all where waiting.file == file && waiting.request !== unlocker {
        waiting.request.link.cancel()
      }
    }
  }
}
