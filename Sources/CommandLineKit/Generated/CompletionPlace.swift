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
    var places: [CompletionPlace] = []
    if family.verbs.contains(where: { $0.words.count > 1 }) {
      let next = family.verbs.compactMap { verb in verb.words.dropFirst().first.map { ($0, verb.summary) } }
      places.append(
        CompletionPlace(
          words: family.word, next: next, options: program.commonOptions, arguments: .nothing,
          takesProgram: false))
    }
    return places + family.verbs.map(place)
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
