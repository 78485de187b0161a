/// Reads a command line of a program. An error names a refused argument by its position and never repeats it, because it may be
/// a secret. It names an option that looks like one.
package struct Parser: ~Copyable {
  package enum Result: Sendable {
    case run(Invocation)
    /// The text of the help that was asked for.
    case help(String)
  }

  private let program: Program
  private let words: [String]
  private var position = 0
  private var family: VerbFamily?
  private var prefix: [String] = []
  private var invocation: Invocation?
  private var positional: [String] = []
  private var early = NamedValues<String>()
  private var optionsEnded = false
  /// Why an argument that looks like the value of the option before it is not the value.
  private var refusedValue: CommandError?

  private init(_ words: [String], of program: Program) {
    self.words = words
    self.program = program
  }

  /// - Throws: ``ExitCode/usage``, or the error of a value.
  package static func parse(_ words: [String], of program: Program) throws(CommandError) -> Result {
    for (index, word) in words.enumerated() {
      if let refusal = program.refusal(word, index + 1) { throw refusal }
    }
    var parser = Parser(words, of: program)
    return try parser.run()
  }

  private mutating func run() throws(CommandError) -> Result {
    while position < words.count {
      let word = words[position]
      position += 1
      if word == "--", !optionsEnded {
        optionsEnded = true
      } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
        if word == "--help" || word == "-h" { return .help(help) }
        if word == "--version", family == nil { return try versionVerb() }
        try takeOption(word)
      } else {
        try takeWord(word)
      }
    }
    return try .run(finish())
  }

  private var help: String {
    let help = Help(program)
    if let invocation { return help.verb(invocation.verb) }
    return family.map(help.family) ?? help.overview
  }

  private func versionVerb() throws(CommandError) -> Result {
    guard words.count == 1, let verb = program.verb(["version"]) else {
      throw .usage("--version stands alone", hint: "try '\(program.name) version --json'")
    }
    return .run(Invocation(verb))
  }
}

// MARK: words

extension Parser {
  private mutating func takeWord(_ word: String) throws(CommandError) {
    if invocation != nil {
      positional.append(word)
      if let limit = wordLimit, positional.count > limit { throw unexpectedArgument }
      return
    }
    prefix.append(word)
    guard let family = family ?? program.family(word) else {
      throw .usage(
        "argument \(position) is not a command of \(program.name)",
        hint: "'\(program.name) --help' lists all"
          + suggestion(for: word, among: program.families.map(\.word)))
    }
    self.family = family
    let candidates = family.verbs.filter { $0.words.starts(with: prefix) }
    guard !candidates.isEmpty else {
      let group = prefix.dropLast()
      let names = family.verbs.filter { $0.words.starts(with: group) }
        .compactMap { $0.words.dropFirst(group.count).first }
      throw .usage(
        "argument \(position) is not a command of '\(program.name) \(family.word)'",
        hint: "'\(program.name) \(family.word) --help' lists all" + suggestion(for: word, among: names))
    }
    if let verb = candidates.first(where: { $0.words == prefix }) { begin(verb) }
  }

  private mutating func begin(_ verb: any Verb.Type) {
    var invocation = Invocation(verb)
    invocation.options = early
    self.invocation = invocation
  }

  private var wordLimit: Int? {
    guard let verb = invocation?.verb, !verb.arguments.contains(where: \.takesRest) else { return nil }
    return verb.arguments.count
  }

  private var unexpectedArgument: CommandError {
    if let refusedValue { return refusedValue }
    let verb = invocation?.verb
    var hint = "'\(program.name) \(verb?.name ?? "") --help' shows what it takes"
    if verb?.readsStandardInput == true { hint = "give a secret on standard input, never as an argument" }
    return .usage("unexpected argument \(position) of '\(place)'", hint: hint)
  }
}

// MARK: options

extension Parser {
  private mutating func takeOption(_ word: String) throws(CommandError) {
    guard word.hasPrefix("--") else { throw unknownOption(word) }
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    // The options of a verb are made when they are asked for.
    guard
      let option = option(name, of: program.commonOptions) ?? option(name, of: invocation?.verb.options ?? [])
    else { throw unknownOption(name) }
    let value = try takeValue(of: option, attached: parts.count == 2 ? String(parts[1]) : nil)
    try store(value, for: option)
  }

  private func option(_ name: String, of options: [Option]) -> Option? { options.first { $0.name == name } }

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

  private func unknownOption(_ name: String) -> CommandError {
    if let advice = invocation?.verb.absentOptions[name] {
      return .usage("--\(name) is not an option of '\(place)'", hint: advice)
    }
    var hint =
      "'\(place) --help' lists the options" + suggestion(for: name, among: known.map(\.name), prefix: "--")
    if invocation == nil { hint += "; give the options of a command after it" }
    let subject = Self.isOptionName(name) ? "--\(name)" : "argument \(position)"
    return .usage("\(subject) is not an option of '\(place)'", hint: hint)
  }

  /// Whether the text has only the letters and dashes of an option. Anything else may be a pasted secret.
  private static func isOptionName(_ name: String) -> Bool {
    1...24 ~= name.utf8.count && name.first != "-" && name.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0 == 0x2D }
  }

  private var place: String { ([program.name] + prefix).joined(separator: " ") }

  /// The options that are known here.
  private var known: [Option] { (invocation?.verb.options ?? []) + program.commonOptions }

  /// Why an argument is no value of the option; `nil` when it is one.
  private func refusal(of argument: String, as option: Option) -> CommandError? {
    do throws(CommandError) { try option.value?.check(argument, "--\(option.name)") } catch { return error }
    return nil
  }

  /// The nearest known word; a secret is not near one.
  private func suggestion(for word: String, among known: [String], prefix: String = "") -> String {
    let nearest = known.map { ($0, editDistance(from: $0, to: word)) }.min { $0.1 < $1.1 }
    guard let nearest, nearest.1 <= 2, nearest.1 <= nearest.0.utf8.count / 2 else { return "" }
    return "; did you mean \(prefix)\(nearest.0)?"
  }
}

// MARK: the whole line

extension Parser {
  private func finish() throws(CommandError) -> Invocation {
    guard var invocation else {
      guard let family else {
        throw .usage("no command", hint: "'\(program.name) --help' lists all; \(program.manual.firstStep)")
      }
      throw .usage(
        "'\(program.name) \(family.word)' needs a command",
        hint: "'\(program.name) \(family.word) --help' lists all")
    }
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
        try argument.value.check(word, argument.name)
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
