/// A command line that the program accepts: a verb, its arguments and its options, each value checked.
package struct Invocation: Sendable {
  package let verb: any Verb.Type
  /// The arguments by their names.
  package var arguments = NamedValues<[String]>()
  /// The values by the names of the options; the empty text for an option without a value.
  package var options = NamedValues<String>()
  /// The values of options that can be repeated, in their order.
  package var lists = NamedValues<[String]>()
  /// Why the only word is no command, where it was taken for a name: what to say if nothing has that name.
  package var unknownWord: CommandError?

  package init(_ verb: any Verb.Type) { self.verb = verb }

  /// Whether the option is given.
  package func has(_ key: any OptionKey) -> Bool { options[key.option.name] != nil }

  package subscript(flag: Flag) -> Bool { has(flag) }

  package subscript<Value>(setting: Setting<Value>) -> Value? {
    options[setting.name].flatMap { try? setting.kind.read($0, "") }
  }

  package subscript(settings: Settings) -> [String] { lists[settings.name] ?? [] }

  /// The argument, where it is given.
  package subscript(argument: Argument) -> String? { arguments[argument.name]?.first }

  /// All arguments that the last one takes.
  package func rest(_ argument: Argument) -> [String] { arguments[argument.name] ?? [] }
}
