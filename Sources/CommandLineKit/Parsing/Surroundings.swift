/// What a parser knows of the place in which a line was typed.
package struct Surroundings: Sendable {
  /// Whether a person is at a terminal, where a name alone is shown.
  package let isInteractive: Bool
  /// Whether a message may advise a verb, by its first word: one that makes what is there already is no help.
  package let advises: @Sendable (_ verb: String) -> Bool

  package init(
    isInteractive: Bool = false, advises: @escaping @Sendable (_ verb: String) -> Bool = { _ in true }
  ) {
    self.isInteractive = isInteractive
    self.advises = advises
  }

  /// Whether a message may advise a command, which begins with the words of its verb.
  func mayAdvise(_ command: String) -> Bool { advises(String(command.prefix { $0 != " " })) }

  /// A script, and nothing that is known.
  package static var script: Surroundings { Surroundings() }
}
