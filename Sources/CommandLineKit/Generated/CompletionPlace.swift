/// A place on the command line: the verb so far, the words and the options that can follow.
struct CompletionPlace {
  let words: String
  let next: [(word: String, summary: String)]
  let options: [Option]
  /// What an argument is completed with, where no word of `next` is.
  let arguments: ShellSource
  /// Whether a whole command line follows, behind `--` or not.
  let takesProgram: Bool
}

/// Where a shell takes what it offers from.
enum ShellSource {
  case nothing
  case words([String])
  case files
  case programs
  /// The lines that a command prints.
  case names(String)
  /// The same, after the text up to a `=`.
  case namesAfterEquals(String)

  init(_ candidates: ValueShape.Candidates?, namesCommand: String?) {
    switch (candidates, namesCommand) {
    case (.words(let words), _), (.commaList(let words), _): self = .words(words)
    case (.files, _): self = .files
    case (.programs, _): self = .programs
    case (.names, let command?): self = .names(command)
    case (.namesAfterEquals, let command?): self = .namesAfterEquals(command)
    default: self = .nothing
    }
  }
}

extension Completion {
  /// Every place of the language, the empty one first.
  var places: [CompletionPlace] {
    let start = CompletionPlace(
      words: "", next: program.families.map { ($0.word, $0.summary) }, options: program.commonOptions,
      arguments: .nothing, takesProgram: false)
    return [start] + program.families.flatMap(places)
  }

  private func places(of family: VerbFamily) -> [CompletionPlace] {
    groups(of: family).map { prefix in
      CompletionPlace(
        words: prefix.joined(separator: " "), next: next(after: prefix, in: family),
        options: program.commonOptions, arguments: .nothing, takesProgram: false)
    } + family.verbs.map(place)
  }

  /// The beginnings that several verbs of a family share, such as `otp` and `otp activate`.
  private func groups(of family: VerbFamily) -> [[String]] {
    var groups: [[String]] = []
    for verb in family.verbs {
      let words = verb.words
      for count in 1..<max(1, words.count) where !groups.contains(Array(words.prefix(count))) {
        groups.append(Array(words.prefix(count)))
      }
    }
    return groups
  }

  /// The words that can follow, each once, with the summary of the first verb that it leads to.
  private func next(after prefix: [String], in family: VerbFamily) -> [(word: String, summary: String)] {
    var next: [(word: String, summary: String)] = []
    for verb in family.verbs where verb.words.count > prefix.count && verb.words.starts(with: prefix) {
      let word = verb.words[prefix.count]
      if !next.contains(where: { $0.word == word }) { next.append((word, verb.summary)) }
    }
    return next
  }

  private func place(of verb: any Verb.Type) -> CompletionPlace {
    var next: [(word: String, summary: String)] = []
    var rest = verb.arguments[...]
    if case .words(let words)? = rest.first?.value.candidates {
      next = words.map { ($0, verb.summary) }
      rest = rest.dropFirst()
    }
    return CompletionPlace(
      words: verb.name, next: next, options: verb.options + program.commonOptions,
      arguments: ShellSource(rest.first?.value.candidates, namesCommand: verb.namesCommand),
      takesProgram: verb.arguments.contains(where: \.takesRest))
  }

  /// What the value of an option is completed with.
  func source(of option: Option, at place: CompletionPlace) -> ShellSource {
    let verb = program.families.flatMap(\.verbs).first { $0.name == place.words }
    return ShellSource(option.value?.candidates, namesCommand: verb?.namesCommand)
  }
}
