/// A colour or a weight of a word on a terminal; nothing is ever said by it alone.
package enum Colour: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"

  /// The word in this colour (ECMA-48 SGR).
  package func text(_ word: String) -> String { "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" }

  /// Whether a person wants them there: on a terminal that knows them, unless NO_COLOR is set to anything.
  package static func isWanted(on stream: OutputStream, in environment: Environment) -> Bool {
    guard stream.isTerminal, (environment["NO_COLOR"] ?? "").isEmpty else { return false }
    return !["", "dumb"].contains(environment["TERM"] ?? "")
  }
}
