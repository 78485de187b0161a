import TextFormats

/// What goes to standard error: every line begins with the name of the program.
package struct Messages {
  package let stream: OutputStream
  package let isJSON: Bool
  private let program: String
  private let hasColours: Bool
  private let escape: @Sendable (String) -> String

  /// - Parameter escape: Makes text harmless for a terminal.
  package init(
    of program: String, to stream: OutputStream, isJSON: Bool, hasColours: Bool = false,
    escape: @escaping @Sendable (String) -> String
  ) {
    self.program = program
    self.escape = escape
    self.stream = stream
    self.isJSON = isJSON
    self.hasColours = hasColours
  }

  /// A remark beside the result, for people only.
  package func note(_ text: String) {
    guard !isJSON else { return }
    emit("\(program): \(escape(text))\n")
  }

  package func error(_ error: CommandError) {
    if isJSON {
      try? error.json.write(to: stream)
      emit("\n")
    } else {
      for (index, line) in error.lines.enumerated() {
        let prefix = hasColours && index == 0 ? Colour.red.text("\(program):") : "\(program):"
        emit("\(prefix) \(escape(line))\n")
      }
    }
  }

  /// The same messages, as JSON.
  package var asJSON: Messages { Messages(of: program, to: stream, isJSON: true, escape: escape) }

  /// When standard error fails, there is no place left to report that.
  private func emit(_ text: String) {
    try? stream.write(text)
    try? stream.flush()
  }
}
