import CommandLineKit

/// Lines of columns, each as wide as its widest cell. Characters that are not printable are escaped.
func columns(_ rows: [[String]]) -> [String] {
  let layout = ColumnLayout(of: rows, escape: printable)
  return rows.map(layout.line)
}
