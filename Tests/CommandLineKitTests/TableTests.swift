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

  @Test("the width is in columns of a terminal, not in bytes: wide characters take two")
  func characters() {
    expect(
      lines([["ä", "1"], ["e\u{301}e", "2"], ["👩‍👩‍👧", "3"], ["字", "4"]]),
      equals: ["ä   1", "e\u{301}e  2", "👩‍👩‍👧  3", "字  4"])
  }

  @Test("what is escaped is as wide as it is shown")
  func escaped() {
    expect(lines([["a", "1"], ["b", "2"]]) { $0 == "a" ? "<a>" : $0 }, equals: ["<a>  1", "b    2"])
  }

  private func list(_ rows: [[String]], warning: Int? = nil) -> Table {
    var table = Table(
      columns: [.init("NAME"), .init("KIND", isSecondary: true), .init("SERVICE"), .init("MARKS")]
    ) { $0 }
    for (index, row) in rows.enumerated() { table.append(row, warns: index == warning) }
    return table
  }

  @Test(
    "a list fits the terminal, and one long name takes nothing from the other columns",
    arguments: [20, 40, 80, 200])
  func fits(width: Int) {
    let long = String(repeating: "name", count: 50)
    let lines = list([
      ["bank", "password", "bank.example", "expired"], [long, "password", "x.example", ""],
      [String(repeating: "字", count: 100), "otp", "s", "code"],
    ]).screen(columns: width, hasColours: false)
    expect(lines.count, equals: 4)
    for line in lines {
      let columns = line.reduce(0) { $0 + ($1 == "字" ? 2 : 1) }
      #expect(columns <= width && !line.hasSuffix(" "), "\(width): \(line)")
    }
    #expect(lines[0].hasPrefix("NAME") && lines[0].hasSuffix("MARKS"), "\(lines)")
    #expect(lines[1].hasPrefix("bank ") && lines[1].hasSuffix(" expired"), "\(lines)")
    #expect(lines[2].hasPrefix("name") && lines[2].contains("…"), "\(lines)")
    #expect(lines[3].hasPrefix("字字") && lines[3].contains("…") && lines[3].hasSuffix(" code"), "\(lines)")
    if width >= 80 { #expect(lines[1].contains(" bank.example "), "\(lines)") }
  }

  @Test("a column without a cell has no heading, and what is narrow is laid out as in a pipe")
  func emptyColumns() {
    let table = list([["a", "otp", "", ""], ["bb", "pin", "", ""]])
    expect(table.screen(columns: 80, hasColours: false), equals: ["NAME  KIND", "a     otp", "bb    pin"])
    expect(table.lines, equals: ["a   otp", "bb  pin"])
    // Less than 20 columns are taken for 20.
    expect(
      table.screen(columns: 1, hasColours: false), equals: table.screen(columns: 20, hasColours: false))
  }

  @Test("headings are bold, what is secondary is dim, and a warning is yellow")
  func colours() {
    let table = list([["a", "otp", "s", "expired"], ["b", "pin", "s", "code"]], warning: 0)
    let lines = table.screen(columns: 80, hasColours: true)
    #expect(lines[0].hasPrefix("\u{1B}[1mNAME\u{1B}[0m  \u{1B}[1mKIND\u{1B}[0m  "), "\(lines)")
    expect(lines[1], equals: "a     \u{1B}[2motp\u{1B}[0m   s        \u{1B}[33mexpired\u{1B}[0m")
    expect(lines[2], equals: "b     \u{1B}[2mpin\u{1B}[0m   s        code")
  }
}
