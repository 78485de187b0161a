package import TextFormats

/// What goes to standard error: every line begins with the name of the program.
package struct Messages {
  package let stream: OutputStream
  package let isJSON: Bool
  private let program: String
  private let hasColours: Bool
  private let escape: @Sendable (String) -> String
  private let warnings: Warnings

  /// - Parameter escape: Makes text harmless for a terminal.
  package init(
    of program: String, to stream: OutputStream, isJSON: Bool, hasColours: Bool = false,
    escape: @escaping @Sendable (String) -> String
  ) {
    self.init(
      of: program, to: stream, isJSON: isJSON, hasColours: hasColours, warnings: Warnings(), escape: escape)
  }

  private init(
    of program: String, to stream: OutputStream, isJSON: Bool, hasColours: Bool, warnings: Warnings,
    escape: @escaping @Sendable (String) -> String
  ) {
    self.program = program
    self.warnings = warnings
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

  /// A remark that a program must see too: with JSON it is one of the `warnings` of the next result, or of the error.
  ///
  /// - Parameter mark: What comes before it for people.
  package func warn(_ text: String, mark: String = "warning: ") {
    if isJSON { warnings.texts.append(text) } else { note(mark + text) }
  }

  /// The result with the warnings that were not told yet.
  package func addingWarnings(to result: JSON) -> JSON {
    guard case .object(let fields) = result, !warnings.texts.isEmpty else { return result }
    let texts = warnings.texts.map { JSON.string($0) }
    switch fields.first(where: { $0.name == "warnings" })?.value {
    case .array(let own):
      warnings.texts = []
      return .object(fields.filter { $0.name != "warnings" } + [Field("warnings", .array(own + texts))])
    case nil:
      warnings.texts = []
      return result.adding("warnings", .array(texts))
    // The report of 'vault doctor' counts its own, which are these too.
    default: return result
    }
  }

  package func error(_ error: CommandError) {
    if isJSON {
      try? addingWarnings(to: error.json).write(to: stream)
      emit("\n")
    } else {
      for (index, line) in error.lines.enumerated() {
        let prefix = hasColours && index == 0 ? Colour.red.text("\(program):") : "\(program):"
        emit("\(prefix) \(escape(line))\n")
      }
    }
  }

  /// The same messages, as JSON.
  package var asJSON: Messages {
    Messages(of: program, to: stream, isJSON: true, hasColours: false, warnings: warnings, escape: escape)
  }

  /// When standard error fails, there is no place left to report that.
  private func emit(_ text: String) {
    if stream.showsProgress {
      try? stream.write("\r\u{1B}[K")
      stream.showsProgress = false
    }
    try? stream.write(text)
    try? stream.flush()
  }
}

/// The warnings that no result has told yet. The commands of a batch share them.
private final class Warnings {
  var texts: [String] = []
}
