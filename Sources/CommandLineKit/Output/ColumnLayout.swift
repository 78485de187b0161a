/// How wide the columns of some rows are.
package struct ColumnLayout: Sendable {
  private let escape: @Sendable (String) -> String
  private var widths: [Int] = []

  /// - Parameter escape: Makes text harmless for a terminal.
  package init(of rows: some Sequence<[String]>, escape: @escaping @Sendable (String) -> String) {
    self.escape = escape
    for row in rows {
      for (index, cell) in row.enumerated() {
        if index == widths.count { widths.append(0) }
        widths[index] = max(widths[index], escape(cell).count)
      }
    }
  }

  /// The line of one of the rows.
  package func line(_ row: [String]) -> String {
    var line = ""
    for (index, cell) in row.map(escape).enumerated() {
      line +=
        index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count + 2)
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
