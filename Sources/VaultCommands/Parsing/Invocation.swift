import CommandLineKit

/// A command line that the table accepts: a verb, its words and its options, each value checked.
package struct Invocation: Sendable {
  package let verb: Verb
  /// The words by the name of their place.
  package var arguments: [String: [String]] = [:]
  /// The values by the option's name; the empty text for an option without a value.
  package var options: [String: String] = [:]
  /// The values of options that may be repeated, in their order.
  package var lists: [String: [String]] = [:]

  package init(_ verb: Verb) { self.verb = verb }

  /// Whether it changes no vault, key or other file. What it logs is a trace of reading.
  package var isReadOnly: Bool {
    guard verb.audited != .always else { return false }
    return !verb.changesFiles || verb.changingOption.map { !has($0) } ?? false
  }

  package func has(_ option: String) -> Bool { options[option] != nil }
  package func text(_ option: String) -> String? { options[option] }
  package func list(_ option: String) -> [String] { lists[option] ?? [] }
  package func argument(_ name: String) -> String? { arguments[name]?.first }

  package func number(_ option: String) -> UInt64? { options[option].flatMap { UInt64($0) } }

  /// Seconds since 1970, from Unix seconds or RFC 3339.
  package func instant(_ option: String) -> Int64? {
    options[option].flatMap { Instants.seconds($0) }
  }

  /// Whole seconds.
  package func duration(_ option: String) -> Int64? { options[option].flatMap { Durations.seconds($0) } }

  package func words(_ option: String) -> [String]? {
    options[option].map { $0.split(separator: ",").map(String.init) }
  }
}
