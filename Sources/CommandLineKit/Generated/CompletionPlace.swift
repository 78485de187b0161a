/// A place on the command line: the verb so far, the words and the options that can follow.
struct CompletionPlace {
  let words: String
  let next: [(word: String, summary: String)]
  let options: [Option]
  /// The command that lists names, where a name comes next.
  let namesCommand: String?
}

extension Completion {
  /// Every place of the language, the empty one first.
  var places: [CompletionPlace] {
    let start = CompletionPlace(
      words: "", next: program.families.map { ($0.word, $0.summary) }, options: program.commonOptions,
      namesCommand: nil)
    return [start] + program.families.flatMap(places)
  }

  private func places(of family: VerbFamily) -> [CompletionPlace] {
    var places: [CompletionPlace] = []
    if family.verbs.contains(where: { $0.words.count > 1 }) {
      let next = family.verbs.compactMap { verb in verb.words.dropFirst().first.map { ($0, verb.summary) } }
      places.append(
        CompletionPlace(words: family.word, next: next, options: program.commonOptions, namesCommand: nil))
    }
    return places + family.verbs.map(place)
  }

  private func place(of verb: any Verb.Type) -> CompletionPlace {
    var next: [(word: String, summary: String)] = []
    if case .words(let words)? = verb.arguments.first?.value.candidates {
      next = words.map { ($0, verb.summary) }
    }
    return CompletionPlace(
      words: verb.name, next: next, options: verb.options + program.commonOptions,
      namesCommand: verb.namesCommand)
  }
}

extension Option {
  /// The words that can be its value, where they are few.
  var completionWords: [String] {
    switch value?.candidates {
    case .words(let words)?, .commaList(let words)?: words
    default: []
    }
  }

  var completesFiles: Bool {
    switch value?.candidates {
    case .files?, .programs?: true
    default: false
    }
  }
}
