package import CommandLineKit

/// Lines of columns, each as wide as its widest cell, with what does not show as itself written out.
package func columns(_ rows: [[String]]) -> [String] { table(of: rows.count) { rows[$0] }.lines }

/// The same as a table.
///
/// - Parameter row: The cells of the row at an index. Called once for each.
package func table(of count: Int, _ row: (Int) -> [String]) -> Table {
  var table = Table(escape: printable)
  for index in 0..<count { table.append(row(index)) }
  return table
}
