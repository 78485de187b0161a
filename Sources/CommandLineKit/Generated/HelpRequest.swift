/// A page of the help that a person asks for.
package struct HelpRequest: Sendable {
  package enum Topic: Sendable {
    case program
    case family(VerbFamily)
    case verb(any Verb.Type)
    /// The options of every command.
    case options
    case exitCodes
    /// How secrets are given.
    case secrets
    /// The words that people type for those of the program.
    case words
    /// Verbs among which a person chooses.
    case verbs([any Verb.Type])
  }

  package let topic: Topic
  /// One screen.
  package let isShort: Bool
  /// What a person is told beside the page: the words that were typed are those of another program.
  package let remark: String?

  package init(topic: Topic, isShort: Bool = false, remark: String? = nil) {
    self.topic = topic
    self.isShort = isShort
    self.remark = remark
  }
}
