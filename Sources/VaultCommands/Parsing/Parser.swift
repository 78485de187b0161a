package import CommandLineKit

/// Reads a command line by the table. A refused argument is named by its position and never repeated: it may be a
/// secret. An option is named when it looks like one.
package struct Parser: ~Copyable {
  package enum Result: Sendable {
    case run(Invocation)
    case help(HelpTopic)
  }

  private let words: [String]
  private var position = 0
  private var family: VerbFamily?
  private var prefix: [String] = []
  private var invocation: Invocation?
  private var positional: [String] = []
  private var early: [String: String] = [:]
  private var optionsEnded = false
  /// An option that stands without its value, before an argument that looks like one and is none.
  private var optionWithoutValue: Option?

  private init(_ words: [String]) { self.words = words }

  /// - Throws: exit 2 for wrong usage, 12 for a malformed name.
  package static func parse(_ words: [String]) throws(CommandError) -> Result {
    for (index, word) in words.enumerated() where isOneTimePasswordURI(word) {
      throw .usage(
        "argument \(index + 1) is a one-time-password URI, and those are secrets",
        hint: "give it on standard input; every program could read it here, so treat it as known to others")
    }
    var parser = Parser(words)
    return try parser.run()
  }

  /// `otpauth:`, `otpauth-migration:`, also as the value in `--option=otpauth:…`.
  private static func isOneTimePasswordURI(_ word: String) -> Bool {
    word.lowercased().split(separator: "=", maxSplits: 1).contains {
      $0.hasPrefix("otpauth:") || $0.hasPrefix("otpauth-migration:")
    }
  }

  private mutating func run() throws(CommandError) -> Result {
    while position < words.count {
      let word = words[position]
      position += 1
      if word == "--", !optionsEnded {
        optionsEnded = true
      } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
        if word == "--help" || word == "-h" { return .help(topic) }
        if word == "--version", family == nil { return try versionVerb() }
        try takeOption(word)
      } else {
        try takeWord(word)
      }
    }
    return try .run(finish())
  }

  private var topic: HelpTopic {
    if let invocation { return .verb(invocation.verb) }
    return family.map { .family($0) } ?? .overview
  }

  private func versionVerb() throws(CommandError) -> Result {
    guard words.count == 1, let verb = VerbTable.verb(["version"]) else {
      throw .usage("--version stands alone", hint: "try 'vaultctl version --json'")
    }
    return .run(Invocation(verb))
  }
}

// MARK: words

extension Parser {
  private mutating func takeWord(_ word: String) throws(CommandError) {
    if invocation != nil {
      positional.append(word)
      if let limit = wordLimit, positional.count > limit { throw surplusWord }
      return
    }
    prefix.append(word)
    guard let family = family ?? VerbTable.family(word) else {
      throw .usage(
        "argument \(position) is not a command of vaultctl",
        hint: "'vaultctl --help' lists all" + suggestion(word, VerbTable.words))
    }
    self.family = family
    let candidates = family.verbs().filter { $0.words.starts(with: prefix) }
    guard !candidates.isEmpty else {
      let names = family.verbs().compactMap { $0.words.dropFirst().first }
      throw .usage(
        "argument \(position) is not a command of 'vaultctl \(family.word)'",
        hint: "'vaultctl \(family.word) --help' lists all" + suggestion(word, names))
    }
    if let verb = candidates.first(where: { $0.words == prefix }) { try begin(verb) }
  }

  private mutating func begin(_ verb: Verb) throws(CommandError) {
    var invocation = Invocation(verb)
    invocation.options = early
    self.invocation = invocation
  }

  private var wordLimit: Int? {
    guard let verb = invocation?.verb, !verb.arguments.contains(where: \.takesRest) else { return nil }
    return verb.arguments.count
  }

  private var surplusWord: CommandError {
    if let option = optionWithoutValue { return ValueKind.noDuration("--\(option.name)") }
    let verb = invocation?.verb
    var hint = "'vaultctl \(verb?.name ?? "") --help' shows what it takes"
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
    let known = invocation?.verb.options ?? Verb.common
    guard let option = known.first(where: { $0.name == name }) else { throw unknownOption(name) }
    let value = try takeValue(of: option, attached: parts.count == 2 ? String(parts[1]) : nil)
    try store(value, for: option)
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
        optionWithoutValue = option
      }
    }
    guard let value = value ?? (option.valueIsOptional ? option.defaultValue : nil) else {
      throw .usage("--\(option.name) needs a value", hint: "write \(option.usage)")
    }
    try kind.check(value, named: "--\(option.name)")
    return value
  }

  private mutating func store(_ value: String, for option: Option) throws(CommandError) {
    if option.isRepeatable {
      invocation?.lists[option.name, default: []].append(value)
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
    let known = (invocation?.verb.options ?? Verb.common).map(\.name)
    var hint = "'\(place) --help' lists the options" + suggestion(name, known, prefix: "--")
    if invocation == nil { hint += "; give the options of a command after it" }
    let subject = Self.isOptionName(name) ? "--\(name)" : "argument \(position)"
    return .usage("\(subject) is not an option of '\(place)'", hint: hint)
  }

  /// Whether the text has only the letters and dashes of an option. Anything else may be a pasted secret.
  private static func isOptionName(_ name: String) -> Bool {
    1...24 ~= name.utf8.count && name.first != "-" && name.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0 == 0x2D }
  }

  private var place: String { (["vaultctl"] + prefix).joined(separator: " ") }

  /// The nearest known word; a secret is not near one.
  private func suggestion(_ word: String, _ known: [String], prefix: String = "") -> String {
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
        throw .usage("no command", hint: "'vaultctl --help' lists all; 'vaultctl init' makes a vault")
      }
      throw .usage(
        "'vaultctl \(family.word)' needs a command", hint: "'vaultctl \(family.word) --help' lists all")
    }
    try assignWords(to: &invocation)
    try checkChannels(of: invocation)
    try checkPrompt(of: invocation)
    return invocation
  }

  private func assignWords(to invocation: inout Invocation) throws(CommandError) {
    var left = positional[...]
    if let replaced = try replacedName(in: invocation), let first = invocation.verb.arguments.first {
      guard left.count < invocation.verb.arguments.count || first.takesRest else {
        throw .usage("NAME and \(replaced) are given, one of them is enough")
      }
      try assign(invocation.verb.arguments.dropFirst(), &left, &invocation)
    } else {
      try assign(invocation.verb.arguments[...], &left, &invocation)
    }
  }

  private func assign(
    _ places: ArraySlice<Argument>, _ left: inout ArraySlice<String>, _ invocation: inout Invocation
  ) throws(CommandError) {
    for argument in places {
      if argument.takesRest {
        invocation.arguments[argument.name] = Array(left)
        left = []
      } else if let word = left.popFirst() {
        try argument.kind.check(word, named: argument.name)
        invocation.arguments[argument.name] = [word]
      } else if argument.isRequired {
        throw .usage("\(argument.name) is missing", hint: "usage: \(invocation.verb.usage)")
      }
    }
  }

  /// The options that stand in place of NAME, if they do.
  private func replacedName(in invocation: Invocation) throws(CommandError) -> String? {
    guard invocation.verb.target != .none else { return nil }
    if invocation.has("id") {
      if invocation.verb.target == .full, invocation.has("service") || invocation.has("account") {
        throw .usage("--id and --service with --account are given, one of them is enough")
      }
      return "--id"
    }
    guard invocation.verb.target == .full else { return nil }
    guard invocation.has("service") || invocation.has("account") else { return nil }
    guard invocation.has("account") else { throw .usage("--service needs --account beside it, or give NAME") }
    return "--account"
  }

  private func checkChannels(of invocation: Invocation) throws(CommandError) {
    var descriptors: [String: String] = [:]
    for channel in invocation.verb.allChannels {
      guard let number = invocation.text(channel.descriptorOption) else { continue }
      if invocation.has(channel.fileOption) {
        throw .usage(
          "--\(channel.descriptorOption) and --\(channel.fileOption) are given, one of them is enough")
      }
      if let other = descriptors[number] {
        throw .usage("--\(other) and --\(channel.descriptorOption) name the same descriptor")
      }
      if number == "0", invocation.verb.readsStandardInput {
        throw .usage(
          "--\(channel.descriptorOption) 0 is standard input, which this command reads as data",
          hint: "use another descriptor: \(invocation.verb.name) --\(channel.descriptorOption) 3 3<FILE")
      }
      descriptors[number] = channel.descriptorOption
    }
  }

  private func checkPrompt(of invocation: Invocation) throws(CommandError) {
    guard invocation.has("no-input"), let prompt = invocation.text("prompt"), prompt != "none" else { return }
    throw .usage("--no-input and --prompt \(prompt) contradict each other")
  }
}
