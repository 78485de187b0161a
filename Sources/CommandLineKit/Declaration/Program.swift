/// A program: its verbs, and what its help and manual say about it as a whole.
package struct Program: Sendable {
  package let name: String
  /// In the order of the help.
  package let families: [VerbFamily]
  /// The options of every verb. They are understood before the verb too.
  package let commonOptions: [Option]
  package let exitCodes: [ExitCode]
  package let manual: Manual
  /// The error for an argument that must not be on a command line, such as a secret; the second argument is its number.
  package let refusal: @Sendable (_ argument: String, _ number: Int) -> CommandError?

  package init(
    name: String, families: [VerbFamily], commonOptions: [any OptionKey], exitCodes: [ExitCode],
    manual: Manual,
    refusal: @escaping @Sendable (_ argument: String, _ number: Int) -> CommandError?
  ) {
    self.name = name
    self.families = families
    self.commonOptions = commonOptions.map(\.option)
    self.exitCodes = exitCodes
    self.manual = manual
    self.refusal = refusal
  }

  package func family(_ word: String) -> VerbFamily? { families.first { $0.word == word } }

  package func verb(_ words: [String]) -> (any Verb.Type)? {
    words.first.flatMap(family)?.verbs.first { $0.words == words }
  }

  /// `vaultctl item get NAME [options]`
  package func usage(of verb: any Verb.Type) -> String {
    ([name, verb.name] + verb.arguments.map(\.usage) + ["[options]"]).joined(separator: " ")
  }
}
