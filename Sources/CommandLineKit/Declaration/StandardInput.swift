/// What standard input is to a verb.
package enum StandardInput: Sendable {
  case unused
  /// Data, byte for byte, with what it is.
  case data(String)
  /// Text whose one final newline is dropped, with what it is.
  case line(String)

  /// What the help says of it.
  package var explanation: String {
    switch self {
    case .unused: "no"
    case .data(let what): "yes: the \(what), byte for byte; on a terminal it is asked for twice without echo"
    case .line(let what):
      "yes: the \(what), one newline at the end is dropped; on a terminal it is asked for without echo"
    }
  }
}
