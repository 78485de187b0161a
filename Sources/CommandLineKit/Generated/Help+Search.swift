/// Finds a page by what people call it.
extension Help {
  /// The words of the pages that are about all verbs.
  package static let topics: [(word: String, topic: HelpRequest.Topic)] = [
    ("options", .options), ("exit-codes", .exitCodes), ("secrets", .secrets), ("words", .words),
  ]

  /// - Parameter words: What follows `help`; none for the list of all.
  /// - Throws: ``ExitCode/usage`` if no page is about them.
  package func page(for words: [String]) throws(CommandError) -> HelpRequest {
    let words = Array(words.drop { $0 == program.name })
    if words.count > 1, program.verb([words[0]])?.name == "help" {
      return try page(for: Array(words.dropFirst()))
    }
    guard let first = words.first else { return HelpRequest(topic: .program) }
    if words.count == 1, let topic = Self.topics.first(where: { $0.word == first }) {
      return HelpRequest(topic: topic.topic)
    }
    let vocabulary = program.vocabulary()
    if let page = page(named: words, vocabulary) { return page }
    if vocabulary.prefix?.word == first, let page = page(named: Array(words.dropFirst()), vocabulary) {
      return page
    }
    if let redirect = vocabulary.redirect(words, where: { _ in true }) {
      let remark =
        "\(quoted(redirect.typed.joined(separator: " "))) is not a command of \(program.name). This is: "
        + "\(program.name) \(redirect.command)"
      let page = try page(for: redirect.command.split(separator: " " as Character).map { String($0) })
      return HelpRequest(topic: page.topic, remark: remark)
    }
    let found = verbs(about: words)
    guard found.isEmpty else {
      return HelpRequest(topic: found.count == 1 ? .verb(found[0]) : .verbs(found))
    }
    throw unknown(words, vocabulary)
  }

  /// The verb or the family of which the words are the beginning; what follows is a name.
  private func page(named words: [String], _ vocabulary: Vocabulary) -> HelpRequest? {
    guard let first = words.first else { return HelpRequest(topic: .program) }
    for count in stride(from: words.count, through: 1, by: -1) {
      let start = Array(words.prefix(count))
      if let verb = program.verb(start) ?? vocabulary.synonym(start).flatMap({ program.verb(named: $0.verb) })
      {
        return HelpRequest(topic: .verb(verb))
      }
    }
    return program.family(first).map { HelpRequest(topic: .family($0)) }
  }

  /// The verbs in whose name, summary or options all the words are; where there is none, those that have them in their notes.
  private func verbs(about words: [String]) -> [any Verb.Type] {
    let wanted = words.map { Array($0.lowercased().utf8.drop { $0 == UInt8(ascii: "-") }) }.filter {
      $0.count > 2
    }
    guard !wanted.isEmpty else { return [] }
    let verbs = program.families.flatMap(\.verbs)
    let named = verbs.filter { verb in
      Self.has(wanted, in: [verb.name, verb.summary] + ownOptions(of: verb).map(\.name))
    }
    return named.isEmpty ? verbs.filter { Self.has(wanted, in: $0.notes) } : named
  }

  private static func has(_ wanted: [[UInt8]], in texts: [String]) -> Bool {
    let bytes = Array(texts.joined(separator: " ").lowercased().utf8)
    return wanted.allSatisfy { isPiece($0, of: bytes) }
  }

  private static func isPiece(_ piece: [UInt8], of text: [UInt8]) -> Bool {
    guard piece.count <= text.count else { return false }
    return (0...(text.count - piece.count)).contains { text[$0..<($0 + piece.count)].elementsEqual(piece) }
  }

  private func unknown(_ words: [String], _ vocabulary: Vocabulary) -> CommandError {
    let word = words.joined(separator: " ")
    let known =
      program.families.map { ($0.word, $0.word) } + Self.topics.map { ($0.word, $0.word) }
      + vocabulary.synonyms.map { ($0.typed.joined(separator: " "), $0.verb) }
    let near = known.map { (name: $0.1, distance: editDistance(from: $0.0, to: word)) }
      .min { $0.distance < $1.distance }
    let hint = near.flatMap { $0.distance <= 2 ? "did you mean '\(program.name) help \($0.name)'?" : nil }
    return .usage(
      "no page is about \(quoted(word))", hint: hint ?? "'\(program.name) help' lists all commands")
  }
}
