package import SecretMemory
import Synchronization
package import VaultKit

/// A person who types one passcode at each prompt, and allows what the test says. For tests only.
package final class GrantingPrompt: GrantPrompt {
  private struct State {
    var answers: [GrantAnswer]
    var typed = 0
    var offers: [PromptRequest] = []
  }
  private let passcode: String
  private let state: Mutex<State>

  /// - Parameter answers: What the person allows, in order; a question beyond the last one is answered with once.
  package init(passcode: String, answering answers: [GrantAnswer] = []) {
    self.passcode = passcode
    state = Mutex(State(answers: answers))
  }

  /// How often the person typed.
  package var typed: Int { state.withLock { $0.typed } }
  /// The questions for a grant.
  package var offers: [PromptRequest] { state.withLock { $0.offers } }

  package func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    state.withLock { $0.typed += 1 }
    return SecretBytes(testing: passcode)
  }

  package func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { true }

  package func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer {
    state.withLock { state in
      state.offers.append(request)
      return state.answers.isEmpty ? .once : state.answers.removeFirst()
    }
  }
}

/// Keeps grants for one program, without an end. For tests only.
package final class GrantShelf: StandingGrants {
  private struct State {
    var grants: [StandingGrant] = []
    var uses = 0
    var ended = 0
  }
  private let state = Mutex(State())

  package init() {}

  package var grants: [StandingGrant] { state.withLock { $0.grants } }
  package var uses: Int { state.withLock { $0.uses } }
  package var ended: Int { state.withLock { $0.ended } }

  package func grant(for item: ItemID, _ operation: ItemOperation) -> StandingGrant? {
    state.withLock { $0.grants.first { $0.item == item && $0.operation == operation } }
  }

  package func use(_ grant: StandingGrant) -> Bool {
    state.withLock { $0.uses += 1 }
    return true
  }

  package func end(_ grant: StandingGrant) {
    state.withLock { state in
      state.grants.removeAll { $0 === grant }
      state.ended += 1
    }
  }

  package func offer(
    _ grant: StandingGrant, named name: String, afterTyping hasTyped: Bool,
    asking ask: () throws(VaultError) -> GrantAnswer
  ) throws(VaultError) -> GrantAnswer? {
    let answer = try ask()
    if answer != .no, answer != .once { state.withLock { $0.grants.append(grant) } }
    return answer
  }
}
