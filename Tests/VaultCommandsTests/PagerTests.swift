import Foundation
import TestSupport
import Testing

@Suite("The pager", .bounded)
struct PagerTests {
  @Test(
    "a pager gets the whole help where it is longer than the screen, and no page depends on it",
    arguments: [
      ("sed s/^/=/", "=Usage: vaultctl get", 60), ("head -2", "Usage: vaultctl get", 2),
      ("cat", "Usage: vaultctl get", 60),
      ("", "Usage: vaultctl get", 60), ("/nonexistent/pager -x", "Usage: vaultctl get", 60), ("false", "", 0),
      ("exit 3", "", 0), ("cat | head -1", "Usage: vaultctl get", 1), ("echo \"$HOME\"; true", "/", 1),
      ("kill -9 $$", "", 0),
    ])
  func pagers(pager: String, start: String, least: Int) throws {
    let (text, exit) = try Tool().onScreen("get --help", ["PAGER": pager])
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter {
      !$0.contains("/bin/sh: ")
    }
    expect(exit, equals: "0")
    #expect(lines.joined(separator: "\n").hasPrefix(start), "\(pager): \(text)")
    #expect(least > 2 ? lines.count >= 45 : lines.count <= least + 1, "\(pager): \(lines.count)")
  }

  @Test(
    "none runs for what fits, for a dumb terminal, and for one screen of help",
    arguments: ["-h", "get -h", "help vault", "get --help", "help words"])
  func none(words: String) throws {
    let isLong = words.contains("--help") || words.contains("help w")
    let variables = ["PAGER": "echo paged; cat >/dev/null"].merging(isLong ? ["TERM": "dumb"] : [:]) { $1 }
    let (text, exit) = try Tool().onScreen(words, variables, rows: 60)
    #expect(
      exit == "0" && !text.contains("paged") && (text.contains("Usage: ") || text.contains("Words ")),
      "\(text)")
    if isLong { #expect(!text.contains("\u{1B}"), "\(text)") }
  }

  @Test(
    "a terminal of 20 columns and 5 lines, and one that says nothing",
    arguments: [(20, 5), (1, 1), (0, 0), (200, 50), (80, 24)])
  func sizes(columns: UInt16, rows: UInt16) throws {
    let (text, exit) = try Tool().onScreen("get -h", ["PAGER": "cat"], columns: columns, rows: rows)
    expect(exit, equals: "0")
    let limit = columns == 0 ? 80 : min(max(Int(columns), 20), 100)
    let lines = text.split(separator: "\n")
    #expect(lines.filter { $0.count > limit }.count <= (limit < 30 ? 2 : 0), "\(text)")
  }
}
