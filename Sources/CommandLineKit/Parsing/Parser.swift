/// Reads a command line of a program.
///
/// An error repeats the verb, the option or the name that was typed, so that a slip can be found by looking. It never repeats the
/// value of an option, nor a word too many: each may be a secret.
package struct Parser {
  package enum Result: Sendable {
    case run(Invocation)
    case help(HelpRequest)
  }

  let program: Program
  let surroundings: Surroundings
  let words: [String]
  /// Of the next word.
  var position = 0
  /// The words of the verb so far, without a word that says nothing.
  var prefix: [String] = []
  /// A word such as `item` that came before it.
  private(set) var silentWord: String?
  var invocation: Invocation?
  private var positional: [String] = []
  private var early = NamedValues<String>()
  private var optionsEnded = false
  /// Why an argument that looks like the value of the option before it is not the value.
  private var refusedValue: CommandError?

  var firstArgument: String? { positional.first }

  private init(_ words: [String], of program: Program, in surroundings: Surroundings) {
    self.words = words
    self.program = program
    self.surroundings = surroundings
  }

  /// - Throws: ``ExitCode/usage``, or the error of a value.
  package static func parse(
    _ words: [String], of program: Program, in surroundings: Surroundings = .script
  ) throws(CommandError) -> Result {
    for (index, word) in words.enumerated() {
      if let refusal = program.refusal(word, index + 1) { throw refusal }
    }
    var parser = Parser(words, of: program, in: surroundings)
    return try parser.run()
  }

  private mutating func run() throws(CommandError) -> Result {
    while position < words.count {
      let word = words[position]
      position += 1
      if word == "--", !optionsEnded {
        optionsEnded = true
      } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
        if word == "--help" || word == "-h" { return .help(helpRequest(isShort: word == "-h")) }
        if word == "--version" || word == "-V", prefix.isEmpty, invocation == nil {
          return try versionVerb(word)
        }
        try takeOption(word)
      } else {
        try takeWord(word)
      }
    }
    return try .run(finish())
  }

  /// What the words mean that came before `--help`, or else those that come after it.
  private mutating func helpRequest(isShort: Bool) -> HelpRequest {
    if invocation == nil, prefix.isEmpty {
      for word in words[position...] where !word.hasPrefix("-") && invocation == nil {
        position += 1
        prefix.append(word)
        if case .verb(let verb) = meaning() { begin(verb) }
      }
    }
    if let verb = invocation?.verb { return HelpRequest(topic: .verb(verb), isShort: isShort) }
    let family = prefix.first.flatMap(program.family)
    return HelpRequest(topic: family.map { .family($0) } ?? .program, isShort: isShort)
  }

  private func versionVerb(_ word: String) throws(CommandError) -> Result {
    let verb = program.verb(["version"]) ?? synonym(["version"])
    guard let verb else { throw unknownOption(word) }
    guard words.count == 1 else {
      throw .usage("\(word) stands alone", hint: "'\(program.name) \(verb.name) --json' prints it as JSON")
    }
    return .run(Invocation(verb))
  }
}

// MARK: words

/// What the words so far mean.
enum WordMeaning {
  case verb(any Verb.Type)
  /// A verb follows.
  case unfinished
  case unknown
}

extension Parser {
  private mutating func takeWord(_ word: String) throws(CommandError) {
    if let invocation {
      positional.append(word)
      if let error = invocation.unknownWord { throw error }
      if let limit = wordLimit, positional.count > limit { throw unexpectedArgument }
      return
    }
    prefix.append(word)
    switch meaning() {
    case .verb(let verb): begin(verb)
    case .unfinished: break
    case .unknown:
      if isSilent(word) {
        prefix = []
        silentWord = word
      } else {
        try beginShowing(word)
      }
    }
  }

  private mutating func begin(_ verb: any Verb.Type) {
    var invocation = Invocation(verb)
    invocation.options = early
    self.invocation = invocation
  }

  /// What the prefix means: the words of the program first, then those that people type for them.
  private func meaning() -> WordMeaning {
    if silentWord == nil || isAfterSilentWord(prefix[0]) {
      if let verb = program.verb(prefix) { return .verb(verb) }
      if isGroup(prefix) { return .unfinished }
    }
    if position < words.count, program.vocabulary().continues(prefix + [words[position]]) {
      return .unfinished
    }
    if let verb = synonym(prefix),
      silentWord == nil || isAfterSilentWord(verb.words[0])
    {
      return .verb(verb)
    }
    return .unknown
  }

  /// Whether the words begin several verbs.
  func isGroup(_ words: [String]) -> Bool {
    words.first.flatMap(program.family)?.verbs.contains { $0.words.starts(with: words) } ?? false
  }

  /// The verb for which people type these words.
  private func synonym(_ words: [String]) -> (any Verb.Type)? {
    program.vocabulary().synonym(words).flatMap { program.verb(named: $0.verb) }
  }

  /// Whether the word is the one that says nothing, such as `item`.
  private func isSilent(_ word: String) -> Bool {
    prefix.count == 1 && silentWord == nil && program.vocabulary().prefix?.word == word
  }

  private func isAfterSilentWord(_ word: String) -> Bool {
    program.vocabulary().prefix?.verbs.contains(word) ?? false
  }

  /// Takes a word that is no command for a name, where a person types it alone.
  private mutating func beginShowing(_ word: String) throws(CommandError) {
    let error = unknownWord
    guard surroundings.isInteractive, prefix.count == 1,
      let verb = program.vocabulary().bareWord.flatMap(program.verb(named:))
    else { throw error }
    begin(verb)
    invocation?.unknownWord = error
    positional = [word]
  }

  private var wordLimit: Int? {
    guard let verb = invocation?.verb, !verb.arguments.contains(where: \.takesRest) else { return nil }
    return verb.arguments.count
  }

  private var unexpectedArgument: CommandError {
    if let refusedValue { return refusedValue }
    guard let verb = invocation?.verb else { return .usage("unexpected argument \(position)") }
    let hint =
      verb.readsStandardInput
      ? "give a secret on standard input, never as an argument" : "usage: \(program.usage(of: verb))"
    return .usage("unexpected argument \(position) of '\(place)'", hint: hint)
  }
}

// MARK: options

extension Parser {
  private mutating func takeOption(_ word: String) throws(CommandError) {
    if invocation == nil, let verb = familyVerb, !isCommonOption(word) { begin(verb) }
    guard word.hasPrefix("--") else { return try takeLetters(word) }
    let parts = word.dropFirst(2).split(
      separator: "=" as Character, maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = option(where: { $0.name == name }) ?? optionSynonym(name) else {
      throw unknownOption(word)
    }
    let value = try takeValue(of: option, attached: parts.count == 2 ? String(parts[1]) : nil)
    try store(value, for: option)
  }

  /// `-c`, `-cy`, `-g20`. What follows the letter of an option with a value is the value, as far as it can be one.
  private mutating func takeLetters(_ word: String) throws(CommandError) {
    var rest = word.dropFirst()
    while let letter = rest.popFirst() {
      guard let option = option(where: { $0.short.contains(letter) }) else {
        throw unknownOption("-\(letter)", in: word)
      }
      guard let kind = option.value else {
        try store("", for: option)
        continue
      }
      let isMarked = rest.first == "="
      let attached = String(isMarked ? rest.dropFirst() : rest)
      if !rest.isEmpty, option.valueIsOptional, !isMarked, !kind.accepts(attached) {
        if rest.first?.isNumber == true, let refusal = refusal(of: attached, as: option) { throw refusal }
        try store(option.defaultValue ?? "", for: option)
        continue
      }
      return try store(takeValue(of: option, attached: rest.isEmpty ? nil : attached), for: option)
    }
  }

  /// The options of a verb are made when they are asked for.
  private func option(where isMeant: (Option) -> Bool) -> Option? {
    program.commonOptions.first(where: isMeant) ?? invocation?.verb.options.first(where: isMeant)
  }

  private func optionSynonym(_ name: String) -> Option? {
    for known in program.vocabulary().optionNames(name) {
      if let option = option(where: { $0.name == known }) { return option }
    }
    return nil
  }

  private func isCommonOption(_ word: String) -> Bool {
    let name = word.hasPrefix("--") ? word.dropFirst(2).prefix { $0 != "=" } : ""
    let letter = word.dropFirst().first
    return program.commonOptions.contains { option in
      word.hasPrefix("--") ? option.name == name : letter.map { option.short.contains($0) } ?? false
    }
  }

  private mutating func takeValue(of option: Option, attached: String?) throws(CommandError) -> String {
    guard let kind = option.value else {
      guard attached == nil else { throw .usage("--\(option.name) takes no value") }
      return ""
    }
    var value = attached
    if value == nil, position < words.count {
      if !option.valueIsOptional || kind.accepts(words[position]) {
        value = words[position]
        position += 1
      } else if words[position].first?.isNumber == true {
        refusedValue = refusal(of: words[position], as: option)
      }
    }
    guard let value = value ?? (option.valueIsOptional ? option.defaultValue : nil) else {
      throw .usage("--\(option.name) needs a value", hint: "write \(option.usage)")
    }
    try kind.check(value, "--\(option.name)")
    return value
  }

  private mutating func store(_ value: String, for option: Option) throws(CommandError) {
    if option.isRepeatable {
      let earlier = invocation?.lists[option.name] ?? []
      invocation?.lists[option.name] = earlier + [value]
      return
    }
    guard (invocation?.options ?? early)[option.name] == nil || option.value == nil else {
      throw .usage("--\(option.name) is given twice")
    }
    if invocation == nil { early[option.name] = value } else { invocation?.options[option.name] = value }
  }

  /// Why an argument is no value of the option; `nil` when it is one.
  private func refusal(of argument: String, as option: Option) -> CommandError? {
    do throws(CommandError) { try option.value?.check(argument, "--\(option.name)") } catch { return error }
    return nil
  }
}

// MARK: the whole line

extension Parser {
  /// What a family does whose word is typed alone.
  private var familyVerb: (any Verb.Type)? {
    guard !prefix.isEmpty || silentWord != nil else { return nil }
    let vocabulary = program.vocabulary()
    let family = prefix.isEmpty ? vocabulary.prefix?.word ?? "" : prefix.joined(separator: " ")
    return vocabulary.verb(ofFamily: family).flatMap(program.verb(named:))
  }

  private mutating func finish() throws(CommandError) -> Invocation {
    if invocation == nil, let verb = familyVerb { begin(verb) }
    guard var invocation else { throw missingVerb }
    try assignWords(to: &invocation)
    try checkSecrets(of: invocation)
    try invocation.verb.check(invocation)
    return invocation
  }

  private func assignWords(to invocation: inout Invocation) throws(CommandError) {
    var left = positional[...]
    if let replaced = try replacedName(in: invocation), let first = invocation.verb.arguments.first {
      guard left.count < invocation.verb.arguments.count || first.takesRest else {
        throw .usage("\(first.name) and \(replaced) are given, one of them is enough")
      }
      try assign(&left, to: invocation.verb.arguments.dropFirst(), in: &invocation)
    } else {
      try assign(&left, to: invocation.verb.arguments[...], in: &invocation)
    }
  }

  private func assign(
    _ left: inout ArraySlice<String>, to places: ArraySlice<Argument>, in invocation: inout Invocation
  ) throws(CommandError) {
    for argument in places {
      if argument.takesRest {
        invocation.arguments[argument.name] = Array(left)
        left = []
      } else if let word = left.popFirst() {
        do throws(CommandError) { try argument.value.check(word, argument.name) } catch {
          throw completed(error, about: argument, of: invocation.verb)
        }
        invocation.arguments[argument.name] = [word]
      } else if argument.isRequired {
        throw .usage("\(argument.name) is missing", hint: "usage: \(program.usage(of: invocation.verb))")
      }
    }
  }

  /// The option that is given in place of the first argument, if there is one.
  private func replacedName(in invocation: Invocation) throws(CommandError) -> String? {
    let given = invocation.verb.standIns.filter { standIn in
      standIn.options.contains { invocation.options[$0.name] != nil }
    }
    guard let standIn = given.first else { return nil }
    guard given.count == 1 else {
      let shown = given.reversed().map(\.shown).joined(separator: " and ")
      throw .usage("\(shown) are given, one of them is enough")
    }
    guard invocation.options[standIn.needed.name] != nil else {
      let other = standIn.options.first { $0.name != standIn.needed.name }?.name ?? ""
      throw .usage(
        "--\(other) needs --\(standIn.needed.name) beside it, or give \(Self.first(of: invocation))")
    }
    return "--\(standIn.needed.name)"
  }

  private static func first(of invocation: Invocation) -> String {
    invocation.verb.arguments.first?.name ?? ""
  }

  /// A descriptor brings one secret, and a secret comes one way.
  private func checkSecrets(of invocation: Invocation) throws(CommandError) {
    var descriptors: [Int32: Setting<Int32>] = [:]
    for secret in invocation.verb.secretOptions + program.secretOptions {
      guard let number = invocation[secret.descriptor] else { continue }
      if let file = secret.file, invocation.has(file) {
        throw .usage("\(secret.descriptor.shown) and \(file.shown) are given, one of them is enough")
      }
      if let other = descriptors[number] {
        throw .usage("\(other.shown) and \(secret.descriptor.shown) name the same descriptor")
      }
      if number == 0, invocation.verb.readsStandardInput {
        throw .usage(
          "\(secret.descriptor.shown) 0 is standard input, which this command reads as data",
          hint: "use another descriptor: \(invocation.verb.name) \(secret.descriptor.shown) 3 3<FILE")
      }
      descriptors[number] = secret.descriptor
    }
  }
}
