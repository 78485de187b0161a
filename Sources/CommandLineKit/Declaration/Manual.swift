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
  let example: String
  /// What a person who types the name of the program alone can begin with.
  let firstStep: String

  package init(
    summary: String, purpose: String, description: [String], sections: [Section], example: String,
    firstStep: String
  ) {
    self.summary = summary
    self.purpose = purpose
    self.description = description
    self.sections = sections
    self.example = example
    self.firstStep = firstStep
  }
}
