import SecretMemory
import TextFormats

/// Prints a result: one JSON object, or what a person reads.
package struct Printer {
  private let output: OutputStream
  private let isJSON: Bool
  private let hasColours: Bool
  private let paging: Environment?

  /// - Parameter paging: The environment that names the pager of lists; `nil` in a process that must run none.
  package init(output: OutputStream, isJSON: Bool, hasColours: Bool, paging: Environment? = nil) {
    (self.output, self.isJSON, self.hasColours, self.paging) = (output, isJSON, hasColours, paging)
  }

  package func print(_ outcome: Outcome) throws(CommandError) {
    if isJSON {
      if let json = outcome.json { try printLine(json) }
    } else {
      for piece in outcome.pieces { try print(piece) }
    }
    try output.flush()
  }

  private func print(_ piece: Outcome.Piece) throws(CommandError) {
    switch piece {
    case .text(let text): try output.write(text)
    case .lines(let count, let line):
      for index in 0..<count { if let line = line(index) { try output.write(line + "\n") } }
    case .table(let table) where table.isList && output.isTerminal: try printList(table)
    case .table(let table): try table.write(to: output)
    case .coloured(let word, let colour): try output.write(hasColours ? colour.text(word) : word)
    case .secret(let box): try box.expose { bytes throws(CommandError) in try output.writeSecret(bytes) }
    case .part(let box, let range):
      try box.expose { bytes throws(CommandError) in try output.writeSecret(bytes.extracting(range)) }
    case .secretJSON(let box): try JSON.secretJSON(box).write(to: output)
    case .newlineOnTerminal: if output.isTerminal { try output.write("\n") }
    case .json(let json): try printLine(json)
    }
  }

  private func printList(_ table: Table) throws(CommandError) {
    let lines = table.screen(columns: output.terminalSize.columns, hasColours: hasColours)
    let text = lines.reduce(into: "") { $0 += $1 + "\n" }
    guard let paging else { return try output.write(text) }
    try Pager.print(text, rowCount: lines.count, to: output, in: paging)
  }

  private func printLine(_ json: JSON) throws(CommandError) {
    try json.write(to: output)
    try output.write("\n")
  }
}
