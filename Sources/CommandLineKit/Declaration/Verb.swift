/// One verb of a program: what the parser accepts, and what the help, the manual page and the completion say.
///
/// A verb is a type, and its declaration is the static members. What it does belongs to the program, not to this module.
package protocol Verb: SendableMetatype {
  /// The words that call it: `["add"]`.
  static var words: [String] { get }
  static var summary: String { get }
  static var arguments: [Argument] { get }
  /// Options that can be given in place of the first argument.
  static var standIns: [StandIn] { get }
  /// All options in the order of the help, without those that every verb has.
  static var options: [Option] { get }
  /// The options among them that bring secrets.
  static var secretOptions: [SecretOptions] { get }
  static var standardInput: StandardInput { get }
  /// What the verb reads, needs, asks for and leaves behind: names and texts.
  static var facts: [(name: String, text: String)] { get }
  static var exitCodes: [ExitCode] { get }
  static var notes: [String] { get }
  /// Commands to copy, the most useful first. Two fit on a screen.
  static var examples: [String] { get }
  /// Options that it does not have although a person may expect them, with what to do instead.
  static var absentOptions: [String: String] { get }
  /// The command that prints the names of which one is an argument or a value, a line each; for the completion.
  static var namesCommand: String? { get }

  /// Refuses what the options say together.
  static func check(_ invocation: Invocation) throws(CommandError)
}

extension Verb {
  package static var arguments: [Argument] { [] }
  package static var standIns: [StandIn] { [] }
  package static var standardInput: StandardInput { .unused }
  package static var notes: [String] { [] }
  package static var absentOptions: [String: String] { [:] }
  package static var namesCommand: String? { nil }

  package static var name: String { words.joined(separator: " ") }

  package static var readsStandardInput: Bool {
    if case .unused = standardInput { false } else { true }
  }
}
