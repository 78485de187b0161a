/// What people type for the words of a program, besides the words themselves: words that work, and words that are answered with the
/// command to copy.
///
/// Words that belong together are written with spaces between them, as on a command line. Each command is written without the name of
/// the program.
package struct Vocabulary: Sendable {
  /// Words that mean a verb and nothing else.
  package struct Synonym: Sendable {
    let typed: [String]
    /// The words of the verb.
    let verb: String

    package init(_ typed: String, _ verb: String) { (self.typed, self.verb) = (words(of: typed), verb) }
  }

  /// Words that mean no verb of the program, and the command that does what is meant.
  package struct Redirect: Sendable {
    let typed: [String]
    /// `NAME` or `FILE` in it becomes the word that follows those that were typed.
    let command: String
    /// What the command does, as the end of a sentence; empty where the command says it.
    let effect: String

    package init(_ typed: String, _ command: String, _ effect: String = "") {
      (self.typed, self.command, self.effect) = (words(of: typed), command, effect)
    }
  }

  /// An option that no verb has, and what to do in its place.
  package struct OptionAdvice: Sendable {
    let name: String
    /// The first words of the verbs to which it applies; none for all.
    let verbs: [String]
    let text: String

    package init(_ name: String, of verbs: String = "", _ text: String) {
      (self.name, self.verbs, self.text) = (name, words(of: verbs), text)
    }
  }

  /// A word that says nothing before some verbs.
  package struct Prefix: Sendable {
    let word: String
    /// The first words of the verbs.
    let verbs: [String]

    package init(_ word: String, before verbs: String) { (self.word, self.verbs) = (word, words(of: verbs)) }
  }

  package let synonyms: [Synonym]
  package let redirects: [Redirect]
  /// Options that a verb has by another name.
  package let optionSynonyms: [(typed: String, name: String)]
  package let optionAdvice: [OptionAdvice]
  /// The verb of a family whose word is typed alone.
  package let familyVerbs: [(family: String, verb: String)]
  /// What a name behind the word of a family asks for: a verb and where the name is in it.
  package let familyNames: [(family: String, command: String)]
  package let prefix: Prefix?
  /// The verb for a name that is typed alone by a person at a terminal.
  package let bareWord: String?

  package init(
    synonyms: [Synonym] = [], redirects: [Redirect] = [],
    optionSynonyms: [(typed: String, name: String)] = [],
    optionAdvice: [OptionAdvice] = [], familyVerbs: [(family: String, verb: String)] = [],
    familyNames: [(family: String, command: String)] = [], prefix: Prefix? = nil, bareWord: String? = nil
  ) {
    self.synonyms = synonyms
    self.redirects = redirects
    self.optionSynonyms = optionSynonyms
    self.optionAdvice = optionAdvice
    self.familyVerbs = familyVerbs
    self.familyNames = familyNames
    self.prefix = prefix
    self.bareWord = bareWord
  }
}

extension Vocabulary {
  /// All commands that it names.
  package var commands: [String] {
    synonyms.map(\.verb) + redirects.map(\.command) + familyVerbs.map(\.verb) + familyNames.map(\.command)
      + (bareWord.map { [$0] } ?? [])
  }

  /// All words that are no command.
  package var typed: [[String]] { synonyms.map(\.typed) + redirects.map(\.typed) }

  /// The synonym that is exactly these words.
  func synonym(_ typed: [String]) -> Synonym? { synonyms.first { $0.typed == typed } }

  /// Whether a synonym begins with these words.
  func continues(_ typed: [String]) -> Bool {
    synonyms.contains { $0.typed.starts(with: typed) }
  }

  /// The longest redirect that the words begin with; the first of several.
  func redirect(_ typed: [String], where isAdvised: (_ command: String) -> Bool) -> Redirect? {
    var longest: Redirect?
    for redirect in redirects
    where typed.starts(with: redirect.typed) && redirect.typed.count > longest?.typed.count ?? 0
      && isAdvised(redirect.command)
    {
      longest = redirect
    }
    return longest
  }

  func verb(ofFamily family: String) -> String? { familyVerbs.first { $0.family == family }?.verb }

  func optionNames(_ typed: String) -> [String] { optionSynonyms.filter { $0.typed == typed }.map(\.name) }

  func advice(on option: String, of verb: String?) -> String? {
    optionAdvice.first { advice in
      advice.name == option && (advice.verbs.isEmpty || verb.map(advice.verbs.contains) ?? false)
    }?.text
  }
}

private func words(of text: String) -> [String] {
  text.split(separator: " " as Character).map { String($0) }
}
