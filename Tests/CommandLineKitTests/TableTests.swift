import CommandLineKit
import TestSupport
import Testing

@Suite("Tables")
struct TableTests {
  private func lines(_ rows: [[String]], escape: @escaping @Sendable (String) -> String = { $0 }) -> [String]
  {
    var table = Table(escape: escape)
    for row in rows { table.append(row) }
    return table.lines
  }

  @Test("each column is as wide as its widest cell, and no line ends in a space")
  func columns() {
    #expect(lines([["a", "bb", "c"], ["aaa", "b", "cc"]]) == ["a    bb  c", "aaa  b   cc"])
    #expect(lines([["a", "", ""], ["", "b", ""], ["", "", ""], []]) == ["a", "   b", "", ""])
    #expect(lines([["a"], ["b", "c", "d"], ["eee", "f"]]) == ["a", "b    c  d", "eee  f"])
    #expect(lines([]) == [])
  }

  @Test("the width is in characters, not in bytes")
  func characters() {
    #expect(lines([["ä", "1"], ["e\u{301}e", "2"], ["👩‍👩‍👧", "3"]]) == ["ä   1", "e\u{301}e  2", "👩‍👩‍👧   3"])
  }

  @Test("what is escaped is as wide as it is shown")
  func escaped() {
    #expect(lines([["a", "1"], ["b", "2"]]) { $0 == "a" ? "<a>" : $0 } == ["<a>  1", "b    2"])
  }
}
