/// What goes to standard error: every line begins with `vaultctl:`.
package struct Messages {
  let stream: OutputStream
  let isJSON: Bool
  let hasColours: Bool

  package init(stream: OutputStream, isJSON: Bool, hasColours: Bool = false) {
    self.stream = stream
    self.isJSON = isJSON
    self.hasColours = hasColours
  }

  /// A remark beside the result, for people only.
  package func note(_ text: String) {
    guard !isJSON else { return }
    emit("vaultctl: \(printable(text))\n")
  }

  func error(_ error: CommandError) {
    if isJSON {
      try? JSONWriter(output: stream).write(error.json)
      emit("\n")
    } else {
      for (index, line) in error.lines.enumerated() {
        let prefix = hasColours && index == 0 ? Colour.red.text("vaultctl:") : "vaultctl:"
        emit("\(prefix) \(printable(line))\n")
      }
    }
  }

  /// Nothing is left to tell it to when standard error fails.
  private func emit(_ text: String) {
    try? stream.write(text)
    try? stream.flush()
  }
}
