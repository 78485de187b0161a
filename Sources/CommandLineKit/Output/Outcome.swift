package import SecretMemory
package import TextFormats

/// What a command found: once as JSON, once for people. Printed only after the work is done.
package struct Outcome: Sendable {
  package enum Piece: Sendable {
    case text(String)
    /// So many lines of text, each made when it is printed; `nil` is none.
    case lines(count: Int, _ line: @Sendable (Int) -> String?)
    /// Rows of columns, each ended by a newline.
    case table(Table)
    /// A word that is coloured on a terminal.
    case coloured(String, Colour)
    case secret(SharedSecret)
    /// Some bytes of a secret, by their offsets.
    case part(of: SharedSecret, Range<Int>)
    /// A text of JSON that somebody else wrote.
    case secretJSON(SharedSecret)
    /// Only where a person reads it: a file or a pipe gets the very bytes.
    case newlineOnTerminal
    /// An object on a line of its own, for commands whose answers are JSON in any case.
    case json(JSON)
  }

  /// `nil` prints nothing.
  package var json: JSON?
  package var pieces: [Piece]
  /// A finding that is a failure although there is a result to show, like damage that `verify` found.
  package var failure: CommandError?

  package init(json: JSON?, pieces: [Piece] = [], failure: CommandError? = nil) {
    self.json = json
    self.pieces = pieces
    self.failure = failure
  }

  /// Lines of text for people, each ended by a newline.
  package init(json: JSON?, lines: [String], failure: CommandError? = nil) {
    let text = lines.reduce(into: "") { $0 += $1 + "\n" }
    self.init(json: json, pieces: text.isEmpty ? [] : [.text(text)], failure: failure)
  }
}
