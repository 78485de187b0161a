import CommandLineKit
import Glibc
import VaultKit
import VaultWords

/// A row of a list.
struct ListRow {
  let cells: [String]
  var marks: [String] = []
  /// Marks that only a person at a terminal gets: what a script reads keeps its columns.
  var marksOnTerminal: [String] = []
  /// Whether a mark is a warning.
  var warns = false
}

extension Command {
  /// Whether a person reads what is listed on a terminal.
  var listsOnTerminal: Bool { !isJSON && isatty(world.standardOutput) == 1 }

  /// What a list prints for people: on a terminal with headings, cut to its width, and with the marks in one last column.
  ///
  /// - Parameters:
  ///   - columns: The headings, without that of the marks.
  ///   - empty: What a person is told of a list without rows: what to do.
  ///   - row: The row at an index. Called once for each.
  func list(
    _ columns: [Table.Column], count: Int, ifEmpty empty: String?, _ row: (Int) -> ListRow
  ) -> [Outcome.Piece] {
    guard !isJSON else { return [] }
    let isOnTerminal = listsOnTerminal
    if count == 0, isOnTerminal, let empty { messages.note(empty) }
    var table = Table(columns: columns + [Table.Column("MARKS")], escape: printable)
    for index in 0..<count {
      let row = row(index)
      let marks =
        isOnTerminal ? [(row.marksOnTerminal + row.marks).joined(separator: ", ")] : row.marks
      table.append(row.cells + marks, warns: row.warns && isOnTerminal)
    }
    return [.table(table)]
  }
}
