import CommandLineKit
import TestSupport
import Testing

@Suite("Tables", .bounded)
struct TableTests {
  private func lines(_ rows: [[String]], escape: @escaping @Sendable (String) -> String = { $0 }) -> [String]
  {
    var table = Table(escape: escape)
    for row in rows { table.append(row) }
    return table.lines
  }

  @Test("each column is as wide as its widest cell, and no line ends in a space")
  func columns() {
    expect(lines([["a", "bb", "c"], ["aaa", "b", "cc"]]), equals: ["a    bb  c", "aaa  b   cc"])
    expect(lines([["a", "", ""], ["", "b", ""], ["", "", ""], []]), equals: ["a", "   b", "", ""])
    expect(lines([["a"], ["b", "c", "d"], ["eee", "f"]]), equals: ["a", "b    c  d", "eee  f"])
    expect(lines([]), equals: [])
  }

  @Test("the width is in characters, not in bytes")
  func characters() {
    expect(
      lines([["ä", "1"], ["e\u{301}e", "2"], ["👩‍👩‍👧", "3"]]), equals: ["ä   1", "e\u{301}e  2", "👩‍👩‍👧   3"])
  }

  @Test("what is escaped is as wide as it is shown")
  func escaped() {
    expect(lines([["a", "1"], ["b", "2"]]) { $0 == "a" ? "<a>" : $0 }, equals: ["<a>  1", "b    2"])
  }
}
