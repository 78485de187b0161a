/// A program: its verbs, and what its help and manual say about it as a whole.
///
/// The module is the parts of a command-line tool that handles secrets. It knows no vault: a tool gives it the verbs as a value.
///
/// A program has families of verbs. A ``Verb`` is a type whose static members are its declaration: words, arguments, options,
/// notes and exit codes. An option is a ``Flag``, a ``Setting`` or ``Settings``, and has the type of its value, which a
/// ``ValueKind`` checks and reads.
///
/// The ``Parser`` turns a command line into an ``Invocation``, or into a ``CommandError`` that repeats the verb, the option or the
/// name that was typed, and never a value. A ``Vocabulary`` has the words that mean a verb without being its own. ``Help``, ``ManPages`` and ``Completion`` are made from the same declarations, so that they cannot disagree.
///
/// A verb returns an ``Outcome``, once as JSON and once for people, and a ``Printer`` writes it to an ``OutputStream``. ``Messages``
/// and ``Progress`` go to standard error. An ``ExitCode`` says how the command ended; a tool adds its own codes.
///
/// `Secrets/` and `Clipboard/` take secrets from descriptors, generate them, and hand them to programs and to the clipboard without
/// a copy outside of secret memory.
///
/// Read `Declaration/Verb.swift` first, then `Parsing/Parser.swift`, then `Output/Outcome.swift`.
package struct Program: Sendable {
  package let name: String
  /// In the order of the help.
  package let families: [VerbFamily]
  /// The options of every verb. They are understood before the verb too.
  package let commonOptions: [Option]
  /// The options among them that bring secrets.
  package let secretOptions: [SecretOptions]
  package let exitCodes: [ExitCode]
  /// Those that nearly every command can end with.
  let commonExitCodes: [ExitCode]
  package let manual: Manual
  /// What people type for its words. Made when a word or an option is none of its own.
  package let vocabulary: @Sendable () -> Vocabulary
  /// The error for an argument that must not be on a command line, such as a secret; the second argument is its number.
  package let refusal: @Sendable (_ argument: String, _ number: Int) -> CommandError?

  package init(
    name: String, families: [VerbFamily], commonOptions: [any OptionKey],
    secretOptions: [SecretOptions] = [], exitCodes: [ExitCode],
    commonExitCodes: [ExitCode] = [], manual: Manual,
    vocabulary: @escaping @Sendable () -> Vocabulary = { Vocabulary() },
    refusal: @escaping @Sendable (_ argument: String, _ number: Int) -> CommandError?
  ) {
    self.name = name
    self.families = families
    self.commonOptions = commonOptions.map(\.option)
    self.secretOptions = secretOptions
    self.exitCodes = exitCodes
    self.commonExitCodes = commonExitCodes
    self.manual = manual
    self.vocabulary = vocabulary
    self.refusal = refusal
  }

  package func family(_ word: String) -> VerbFamily? { families.first { $0.word == word } }

  package func verb(_ words: [String]) -> (any Verb.Type)? {
    words.first.flatMap(family)?.verbs.first { $0.words == words }
  }

  /// The verb with this name: its words with spaces between them.
  package func verb(named name: String) -> (any Verb.Type)? {
    verb(name.split(separator: " " as Character).map { String($0) })
  }

  /// `vaultctl get NAME [options]`
  package func usage(of verb: any Verb.Type) -> String {
    ([name, verb.name] + verb.arguments.map(\.usage) + ["[options]"]).joined(separator: " ")
  }
}
