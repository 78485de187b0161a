package import VaultFormat
import Synchronization

/// One prompt for the phrase or the finger of a biokey, whose component counts the failures and asks again itself.
package struct LadderRung: Sendable {
  /// What may answer in place of the biokey.
  package let alternatives: [PromptRequest.Subject]
  /// What was wrong with the answer to the prompt before.
  let problem: VaultError?
  private let choice = Choice()

  /// - Parameter alternatives: The PIN, or nothing. An empty answer chooses it.
  package init(alternatives: [PromptRequest.Subject], problem: VaultError?) {
    (self.alternatives, self.problem) = (alternatives, problem)
  }

  /// Whether the person goes on to the alternative.
  package var isAlternativeChosen: Bool { choice.isMade.withLock { $0 } }

  func chooseAlternative() {
    if !alternatives.isEmpty { choice.isMade.withLock { $0 = true } }
  }

  private final class Choice: Sendable {
    let isMade = Mutex(false)
  }
}

extension AuthenticationContext {
  /// A copy for one prompt of a ladder. It shares everything else with this context.
  package func standing(on rung: LadderRung) -> AuthenticationContext {
    var copy = self
    copy.rung = rung
    return copy
  }
}
