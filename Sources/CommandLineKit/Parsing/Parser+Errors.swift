/// What a command line is told that is not accepted: what was typed, and the command to copy.
extension Parser {
  /// The program and the verb so far.
  var place: String {
    ([program.name] + (invocation?.verb.words ?? prefix)).joined(separator: " ")
  }

  /// The words that follow, up to an option. The first can be a name; others are never shown.
  private var following: [String] { Array(words[position...].prefix { !$0.hasPrefix("-") }) }

  /// The error about the last word of the prefix.
  var unknownWord: CommandError {
    let word = prefix[prefix.count - 1]
    let group = Array(prefix.dropLast())
    let known = group.isEmpty ? program.name : "'\(program.name) \(group.joined(separator: " "))'"
    let hint = advice(for: word, in: group) ?? lists(group)
    // What does not take the word that came before it.
    let typed = prefix.count == 1 && program.family(word) != nil ? silentWord.map { "\($0) \(word)" } : nil
    return .usage("\(quoted(typed ?? word)) is not a command of \(known)", hint: hint)
  }

  /// The error about a line without a verb.
  var missingVerb: CommandError {
    guard !prefix.isEmpty else {
      var hint = lists([])
      if surroundings.advises(program.manual.firstVerb) { hint += "; \(program.manual.firstStep)" }
      return .usage("no command", hint: hint)
    }
    if let redirect = program.vocabulary().redirect(prefix, where: surroundings.mayAdvise) {
      return .usage("\(quoted(prefix.joined(separator: " "))) needs a command", hint: text(of: redirect, []))
    }
    return .usage(
      "'\(place)' needs a command: \(nextWords(prefix).joined(separator: ", "))", hint: lists(prefix))
  }

  private func lists(_ group: [String]) -> String {
    let family = ([program.name] + group.prefix(1)).joined(separator: " ")
    return "'\(family) \(group.isEmpty ? "--help" : "-h")' lists all"
  }

  /// The words that can follow a group, or stand first.
  private func nextWords(_ group: [String]) -> [String] {
    guard let family = group.first.flatMap(program.family) else { return program.families.map(\.word) }
    var words: [String] = []
    for verb in family.verbs where verb.words.starts(with: group) && verb.words.count > group.count {
      let word = verb.words[group.count]
      if !words.contains(word) { words.append(word) }
    }
    return words
  }
}

// MARK: a word that is no command

extension Parser {
  /// The table first, letters afterwards.
  private func advice(for word: String, in group: [String]) -> String? {
    let vocabulary = program.vocabulary()
    for before in silentWord.map({ [[$0], []] }) ?? [[]] {
      let typed = before + prefix + following
      if let redirect = vocabulary.redirect(typed, where: surroundings.mayAdvise) {
        return text(of: redirect, typed)
      }
    }
    let sameWord = group.isEmpty ? verbs(endingIn: word) : []
    if !sameWord.isEmpty {
      return "did you mean " + sameWord.map { "'\(program.name) \($0)'" }.joined(separator: " or ") + "?"
    }
    let near = nearest(to: word, in: group, vocabulary)
    let named = command(forName: word, in: group, vocabulary)
    guard let near else { return named.map { "\($0); \(lists(group))" } }
    let completed = "did you mean '\(program.name) \(completed(near, with: following.first))'?"
    return following.isEmpty ? [completed, named].compactMap(\.self).joined(separator: " ") : completed
  }

  private func text(of redirect: Vocabulary.Redirect, _ typed: [String]) -> String {
    let rest = typed.dropFirst(redirect.typed.count)
    let command = filled(redirect.command, with: rest.first)
    return redirect.effect.isEmpty
      ? "did you mean '\(program.name) \(command)'?" : "'\(program.name) \(command)' \(redirect.effect)"
  }

  /// The command with a name that was typed in place of its `NAME`, where it can be typed again.
  private func filled(_ command: String, with name: String?) -> String {
    guard let name = name.flatMap(typable) else { return command }
    var (isFilled, parts) = (false, [String]())
    for part in command.split(separator: " " as Character).map({ String($0) }) {
      if !isFilled, part == "NAME" || part == "FILE" || part == "NAME'" {
        parts.append(name + part.dropFirst(4))
        isFilled = true
      } else {
        parts.append(part)
      }
    }
    return parts.joined(separator: " ")
  }

  /// The command for a word that can be the name of something.
  private func command(forName word: String, in group: [String], _ vocabulary: Vocabulary) -> String? {
    let command =
      group.isEmpty
      ? vocabulary.bareWord.map { "\($0) NAME" }
      : vocabulary.familyNames.first { $0.family == group.joined(separator: " ") }?.command
    // At a terminal the word was looked for as a name already.
    guard let command, surroundings.mayAdvise(command), typable(word) != nil,
      !(surroundings.isInteractive && group.isEmpty && following.isEmpty)
    else { return nil }
    return "for an entry of that name: '\(program.name) \(filled(command, with: word))'"
  }

  /// A verb with the name that was typed behind it, where its first argument is one.
  private func completed(_ name: String, with word: String?) -> String {
    guard let verb = program.verb(named: name), let first = verb.arguments.first, !first.takesRest,
      let word = word.flatMap(typable)
    else { return name }
    return "\(name) \(word)"
  }

  /// Up to three verbs whose last word this is.
  private func verbs(endingIn word: String) -> [String] {
    let names = program.families.flatMap(\.verbs).filter { $0.words.last == word }.map { $0.name }
    return names.count <= 3 ? names.filter(surroundings.mayAdvise) : []
  }

  /// The name of the verb whose word is nearest by letters.
  private func nearest(to word: String, in group: [String], _ vocabulary: Vocabulary) -> String? {
    var known = nextWords(group).map { (typed: $0, verb: (group + [$0]).joined(separator: " ")) }
    for synonym in vocabulary.synonyms
    where synonym.typed.count == group.count + 1 && synonym.typed.starts(with: group) {
      known.append((synonym.typed[group.count], synonym.verb))
    }
    var best: (verb: String, distance: Int)?
    for (typed, verb) in known where surroundings.mayAdvise(verb) {
      let distance = editDistance(from: typed, to: word)
      if Self.isNear(distance, to: typed), distance < best?.distance ?? .max { best = (verb, distance) }
    }
    return best?.verb
  }

  /// A word of three or four letters may have one slip, a longer one two.
  private static func isNear(_ distance: Int, to word: String) -> Bool {
    distance <= (word.utf8.count < 3 ? 0 : word.utf8.count < 5 ? 1 : 2)
  }

}

// MARK: arguments

extension Parser {
  /// The error about an argument that is none of a few words, with the command that has them.
  func completed(
    _ error: CommandError, about argument: Argument, of verb: any Verb.Type
  ) -> CommandError {
    guard error.hint == nil, case .words(let words) = argument.value.candidates else { return error }
    let usages = verb.arguments.map { $0.name == argument.name ? words.joined(separator: "|") : $0.usage }
    var told = error
    told.hint = "write '\(([program.name, verb.name] + usages).joined(separator: " "))'"
    return told
  }
}

// MARK: options

extension Parser {
  /// The error about an option.
  ///
  /// - Parameter cluster: The whole word, of which the option is a letter.
  func unknownOption(_ word: String, in cluster: String? = nil) -> CommandError {
    let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
    let shown = shownOption(word)
    let advice = invocation?.verb.absentOptions[name] ?? tableAdvice(name)
    let message = "\(shown ?? "argument \(position)") is not an option of '\(place)'"
    if let advice, shown != nil { return .usage(message, hint: advice) }
    var hint = "'\(place) --help' lists the options"
    if word.hasPrefix("--"), let near = nearestOption(to: name) {
      hint = "did you mean --\(near)? \(hint)"
    } else if let name = dashedName(cluster) {
      hint = "a \(name) that begins with a dash is written after --: '\(place) -- \(name)'"
    }
    if invocation == nil { hint += "; give the options of a command after it" }
    return .usage(message, hint: hint)
  }

  /// The name that was typed before the option or after it.
  private func name(_ following: [String]) -> String? { firstArgument ?? following.first }

  private func tableAdvice(_ option: String) -> String? {
    program.vocabulary().advice(on: option, of: invocation?.verb.words[0])
      .map { filled($0, with: name(following)) }
  }

  private func nearestOption(to name: String) -> String? {
    var best: (name: String, distance: Int)?
    let known = ((invocation?.verb.options ?? []) + program.commonOptions).map(\.name)
    let synonyms = program.vocabulary().optionSynonyms.filter { known.contains($0.name) }
    for (typed, option) in known.map({ ($0, $0) }) + synonyms.map({ ($0.typed, $0.name) }) {
      let distance = editDistance(from: typed, to: name)
      if Self.isNear(distance, to: typed), distance < best?.distance ?? .max { best = (option, distance) }
    }
    return best?.name
  }

  /// The name of the first argument, if a word with one dash can have been meant as one.
  private func dashedName(_ word: String?) -> String? {
    guard let word, word.utf8.count > 2, let first = invocation?.verb.arguments.first else { return nil }
    return first.name
  }
}
