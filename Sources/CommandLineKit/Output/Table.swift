/// Rows of text in columns, each as wide as its widest cell.
///
/// One with headings is a list: ``screen(columns:hasColours:)`` lays it out for a terminal.
///
/// The text of all cells is in one buffer, so that each row is made once, and neither its width nor its line costs an allocation.
package struct Table: Sendable {
  private let escape: @Sendable (String) -> String
  private var text: [UInt8] = []
  private var cells: [Cell] = []
  private var cellCounts: [Int32] = []
  private var widths: [Int] = []
  private let columns: [Column]
  /// The rows whose last cell warns.
  private var warnings: Set<Int> = []

  /// A column of a list.
  package struct Column: Sendable {
    let title: String
    let isSecondary: Bool

    /// - Parameters:
    ///   - title: What stands above it.
    ///   - isSecondary: Whether it is dim, and the first to be left out where the terminal is narrow.
    package init(_ title: String, isSecondary: Bool = false) {
      (self.title, self.isSecondary) = (title, isSecondary)
    }
  }

  private struct Cell {
    let byteCount: Int32
    let width: Int32
  }

  /// - Parameters:
  ///   - columns: Those of a list, whose first says what a row is; none for other tables.
  ///   - escape: Makes text harmless for a terminal.
  package init(columns: [Column] = [], escape: @escaping @Sendable (String) -> String) {
    (self.columns, self.escape) = (columns, escape)
  }

  var isList: Bool { !columns.isEmpty && !cellCounts.isEmpty }

  /// - Parameters:
  ///   - row: The cells.
  ///   - warns: Whether the last cell is a warning.
  package mutating func append(_ row: [String], warns: Bool = false) {
    if warns { warnings.insert(cellCounts.count) }
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
    // Most text is ASCII, whose width needs no look at its characters.
    let isPlain = text[(text.count - count)...].allSatisfy { $0 >= UInt8(ascii: " ") && $0 < 0x7F }
    let width = isPlain ? count : DisplayWidth.columns(of: cell)
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

extension Table {
  private static let gap = 2
  /// The narrowest that a column is cut to.
  private static let least = 6

  /// The lines of a list on a terminal: headings, then rows that are cut and never wrapped.
  ///
  /// - Parameter width: The columns of the terminal. Less than 20 is taken for 20.
  package func screen(columns width: Int, hasColours: Bool) -> [String] {
    let natural = columns.indices.map { index in
      max(index < widths.count ? widths[index] : 0, DisplayWidth.columns(of: columns[index].title))
    }
    let shown = shownColumns(natural, in: max(20, width))
    let limits = Self.limits(shown.map { natural[$0] }, in: max(20, width))
    var lines = [line(shown, limits) { (columns[$0].title, hasColours ? .bold : nil) }]
    var (row, nextCell, start) = (0, 0, 0)
    for count in cellCounts {
      var texts: [String] = []
      for cell in cells[nextCell..<nextCell + Int(count)] {
        texts.append(String(decoding: text[start..<start + Int(cell.byteCount)], as: UTF8.self))
        start += Int(cell.byteCount)
      }
      nextCell += Int(count)
      lines.append(
        line(shown, limits) { index in
          let isWarning = warnings.contains(row) && index == texts.count - 1
          let colour: Colour? = isWarning ? .yellow : columns[index].isSecondary ? .dim : nil
          return (index < texts.count ? texts[index] : "", hasColours ? colour : nil)
        })
      row += 1
    }
    return lines
  }

  private func line(
    _ shown: [Int], _ limits: [Int], _ cell: (Int) -> (text: String, colour: Colour?)
  ) -> String {
    var (line, spaces) = ("", 0)
    for (index, limit) in zip(shown, limits) {
      let cell = cell(index)
      let text = DisplayWidth.cut(cell.text, to: limit)
      if !text.isEmpty {
        line += String(repeating: " ", count: spaces) + (cell.colour?.text(text) ?? text)
        spaces = 0
      }
      spaces += limit - DisplayWidth.columns(of: text) + Self.gap
    }
    return line
  }

  /// The columns that have something in them and for which there is room: the first and the last stay.
  private func shownColumns(_ natural: [Int], in width: Int) -> [Int] {
    var shown = columns.indices.filter { $0 == 0 || ($0 < widths.count && widths[$0] > 0) }
    func needed() -> Int { shown.reduce(-Self.gap) { $0 + min(natural[$1], Self.least) + Self.gap } }
    while shown.count > 2, needed() > width {
      let middle = shown.dropFirst().dropLast()
      let least = middle.last { columns[$0].isSecondary } ?? middle.last
      shown.removeAll { $0 == least }
    }
    return shown
  }

  /// The widths in which all fit: what is wider than the others is cut first.
  private static func limits(_ natural: [Int], in width: Int) -> [Int] {
    var room = width - gap * (natural.count - 1)
    var limits = natural
    let narrowFirst = natural.indices.sorted { natural[$0] < natural[$1] }
    for (done, index) in narrowFirst.enumerated() {
      limits[index] = min(natural[index], room / (natural.count - done))
      room -= limits[index]
    }
    return limits
  }
}
