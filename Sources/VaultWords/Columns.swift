import CommandLineKit

/// Lines of columns, each as wide as its widest cell, with what does not show as itself written out.
package func columns(_ rows: [[String]]) -> [String] {
  let layout = ColumnLayout(of: rows, escape: printable)
  return rows.map(layout.line)
}
