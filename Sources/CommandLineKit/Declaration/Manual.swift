/// What the help and the manual page say of a program as a whole.
package struct Manual: Sendable {
  /// One section of the manual page.
  package struct Section: Sendable {
    package enum Content: Sendable {
      case text([String])
      case list([(term: String, text: String)])
    }

    let title: String
    let content: Content

    package init(_ title: String, _ content: Content) {
      self.title = title
      self.content = content
    }
  }

  /// One line, for the name section.
  let summary: String
  /// One sentence, for the help.
  let purpose: String
  let description: [String]
  let sections: [Section]
  let examples: [String]
  /// What people need every day, for the short help: how it is called, and what it does.
  package let daily: [(usage: String, text: String)]
  /// How secrets are given, for the help and the manual.
  let secrets: [String]
  /// What a person who types the name of the program alone can begin with.
  let firstStep: String
  /// The verb of the first step.
  let firstVerb: String

  package init(
    summary: String, purpose: String, description: [String], sections: [Section], examples: [String],
    daily: [(usage: String, text: String)] = [], secrets: [String] = [], firstStep: String, firstVerb: String
  ) {
    self.summary = summary
    self.purpose = purpose
    self.description = description
    self.sections = sections
    self.examples = examples
    self.daily = daily
    self.secrets = secrets
    self.firstStep = firstStep
    self.firstVerb = firstVerb
  }
}
