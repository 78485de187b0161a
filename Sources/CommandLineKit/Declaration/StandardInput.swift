/// What standard input is to a verb.
package enum StandardInput: Sendable {
  case unused
  /// Data, byte for byte, with what it is.
  case data(String)
  /// Data that is a file and that nobody types, with what it is.
  case file(String)
  /// Text without blanks at its ends, with what it is.
  case line(String)

  /// What the help says of it.
  package var explanation: String {
    switch self {
    case .unused: "no"
    case .data(let what): "yes: the \(what), byte for byte; on a terminal it is asked for twice without echo"
    case .file(let what): "yes: the \(what), byte for byte; it is not asked for on a terminal"
    case .line(let what):
      "yes: the \(what), blanks and line ends around it are dropped; on a terminal it is asked for without echo"
    }
  }
}
