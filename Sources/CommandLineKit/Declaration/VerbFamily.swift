/// The verbs that begin with the same word.
package struct VerbFamily: Sendable {
  package let word: String
  package let summary: String
  package let verbs: [any Verb.Type]

  package init(word: String, summary: String, verbs: [any Verb.Type]) {
    self.word = word
    self.summary = summary
    self.verbs = verbs
  }
}
