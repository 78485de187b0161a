import Synchronization

/// The questions of one terminal that ended while a person may have been typing the answer.
///
/// A program of the person can end a command whose question is on the screen, and have the next question be its own: what the person is
/// typing for the first one would then answer the second. So the next question waits until the person has pressed Enter to see it, and
/// that line is dropped (``Terminal/ask(_:after:)``).
///
/// A terminal has one if several programs that do not trust each other are asked about there: the keeper's own terminal. Such a terminal
/// shows no note of prompts that wait either, because many notes push the question off the screen.
package final class CutQuestions: Sendable {
  private let isPending = Atomic(false)

  package init() {}

  /// A question, or the command that asks on this terminal, has ended early.
  package func note() { isPending.store(true, ordering: .sequentiallyConsistent) }

  /// Whether the person has to press Enter before the next question.
  var isNoted: Bool { isPending.load(ordering: .sequentiallyConsistent) }

  /// The person has pressed Enter.
  func forget() { isPending.store(false, ordering: .sequentiallyConsistent) }
}
