/// Rows of text in columns, each as wide as its widest cell.
///
/// The text of all cells is in one buffer, so that each row is made once, and neither its width nor its line costs an allocation.
package struct Table: Sendable {
  private let escape: @Sendable (String) -> String
  private var text: [UInt8] = []
  private var cells: [Cell] = []
  private var cellCounts: [Int32] = []
  private var widths: [Int] = []

  private struct Cell {
    let byteCount: Int32
    let width: Int32
  }

  /// - Parameter escape: Makes text harmless for a terminal.
  package init(escape: @escaping @Sendable (String) -> String) { self.escape = escape }

  package mutating func append(_ row: [String]) {
    for index in 0..<row.count {
      let width = append(escape(row[index]))
      if index == widths.count { widths.append(0) }
      if width > widths[index] { widths[index] = width }
    }
    cellCounts.append(Int32(row.count))
  }

  /// Appends a cell.
  ///
  /// - Returns: How wide it is.
  private mutating func append(_ cell: String) -> Int {
    let count = cell.utf8.count
    text.append(contentsOf: cell.utf8)
    // A control character may have no width, and a CR and an LF are one character.
    let isPlain = text[(text.count - count)...].allSatisfy { $0 >= UInt8(ascii: " ") && $0 < 0x7F }
    let width = isPlain ? count : cell.count
    cells.append(Cell(byteCount: Int32(count), width: Int32(width)))
    return width
  }

  /// The rows as lines without spaces at their ends.
  package var lines: [String] {
    var lines: [String] = []
    forEachLine { lines.append(String(decoding: $0, as: UTF8.self)) }
    return lines
  }

  /// Writes the rows, each ended by a newline.
  package func write(to output: OutputStream) throws(CommandError) {
    try forEachLine { line throws(CommandError) in
      line.append(UInt8(ascii: "\n"))
      try output.write(bytes: line)
    }
  }

  private func forEachLine<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    var (line, nextCell, start): ([UInt8], Int, Int) = ([], 0, 0)
    for count in cellCounts {
      line.removeAll(keepingCapacity: true)
      for index in 0..<Int(count) {
        let cell = cells[nextCell]
        let end = start + Int(cell.byteCount)
        line += text[start..<end]
        line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: widths[index] - Int(cell.width) + 2))
        (nextCell, start) = (nextCell + 1, end)
      }
      while line.last == UInt8(ascii: " ") { line.removeLast() }
      try body(&line)
    }
  }
}
