import Glibc

/// How much text a terminal shows.
package struct TerminalSize: Sendable {
  package let rows: Int
  package let columns: Int

  /// - Parameters:
  ///   - rows: 0 for what is not known.
  ///   - columns: 0 for what is not known.
  package init(rows: Int, columns: Int) {
    self.rows = rows > 0 ? rows : 24
    self.columns = columns > 0 ? columns : 80
  }

  /// The size of the terminal behind a descriptor; 24 by 80 where there is none or where it does not say.
  package init(of descriptor: Int32) {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else {
      self.init(rows: 0, columns: 0)
      return
    }
    self.init(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }

  /// The width for sentences: that of the terminal, but neither narrower than a word needs nor wider than a line is read with ease.
  package var textWidth: Int { min(max(columns, 20), 100) }

  /// How many rows the text takes, in which a long line takes several.
  func rowCount(of text: String) -> Int {
    var (rows, column) = (0, 0)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\n") {
        rows += max(1, (column + columns - 1) / columns)
        column = 0
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return rows
  }
}
