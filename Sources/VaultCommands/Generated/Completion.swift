import CommandLineKit

/// Completion scripts for shells, made from the table.
package enum Completion: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  package var script: String {
    switch self {
    case .bash: bashScript
    case .zsh: zshScript
    case .fish: fishScript
    }
  }
}

/// A place on the command line: the words so far, what may follow, and which options.
struct CompletionPlace {
  let words: String
  let next: [(word: String, summary: String)]
  let options: [Option]
  /// The command that lists names, where a name comes next.
  let namesCommand: String?

  /// Every place of the language, the empty one first.
  static var all: [CompletionPlace] {
    let families = VerbTable.families
    let start = CompletionPlace(
      words: "", next: families.map { ($0.word, $0.summary) }, options: Verb.common, namesCommand: nil)
    return [start] + families.flatMap(places)
  }

  private static func places(of family: VerbFamily) -> [CompletionPlace] {
    let verbs = family.verbs()
    var places: [CompletionPlace] = []
    if verbs.contains(where: { $0.words.count > 1 }) {
      let next = verbs.compactMap { verb in verb.words.dropFirst().first.map { ($0, verb.summary) } }
      places.append(
        CompletionPlace(words: family.word, next: next, options: Verb.common, namesCommand: nil))
    }
    return places + verbs.map(place)
  }

  private static func place(of verb: Verb) -> CompletionPlace {
    var next: [(word: String, summary: String)] = []
    if case .choice(let words)? = verb.arguments.first?.kind { next = words.map { ($0, verb.summary) } }
    let lists = verb.words.first == "otp" ? "item list --kind otp" : "item list"
    return CompletionPlace(
      words: verb.name, next: next, options: verb.options,
      namesCommand: verb.target == .none ? nil : "vaultctl \(lists) --format name --no-input 2>/dev/null")
  }
}

extension Option {
  /// The words that may stand as its value, where they are few.
  var completionWords: [String] {
    switch value {
    case .choice(let words)?: words
    case .choices(let words)?: words
    default: []
    }
  }

  var completesFiles: Bool {
    switch value {
    case .path?, .program?: true
    default: false
    }
  }
}
