import Foundation
import TestSupport
import Testing

@Suite("The pager", .bounded)
struct PagerTests {
  /// What a command prints on a terminal that is its standard input, output and error, and its exit code.
  private func shown(
    _ words: String, _ variables: [String: String], columns: UInt16 = 80, rows: UInt16 = 24
  ) throws -> (text: String, exit: String) {
    let tool = try Tool()
    let screen = try PseudoTerminal()
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    unsafe expect(ioctl(terminal, UInt(TIOCSWINSZ), &size), equals: 0)
    let own = ["T": Tool.path, "TERM": "xterm"].merging(variables) { $1 }
    let script = "\"$T\" \(words); echo \"END=$?.\""
    var child = Child("/bin/sh", ["-c", script], tool.environment.merging(own) { $1 })
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: /END=[0-9]+\./)
    try running.wait()
    close(terminal)
    let parts = screen.transcript.replacing("\r\n", with: "\n").components(separatedBy: "END=")
    return (parts[0], String(parts[1].prefix { $0 != "." }))
  }

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
    let (text, exit) = try shown("get --help", ["PAGER": pager])
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
    let (text, exit) = try shown(words, variables, rows: 60)
    #expect(
      exit == "0" && !text.contains("paged") && (text.contains("Usage: ") || text.contains("Words ")),
      "\(text)")
    if isLong { #expect(!text.contains("\u{1B}"), "\(text)") }
  }

  @Test(
    "a terminal of 20 columns and 5 lines, and one that says nothing",
    arguments: [(20, 5), (1, 1), (0, 0), (200, 50), (80, 24)])
  func sizes(columns: UInt16, rows: UInt16) throws {
    let (text, exit) = try shown("get -h", ["PAGER": "cat"], columns: columns, rows: rows)
    expect(exit, equals: "0")
    let limit = columns == 0 ? 80 : min(max(Int(columns), 20), 100)
    let lines = text.split(separator: "\n")
    #expect(lines.filter { $0.count > limit }.count <= (limit < 30 ? 2 : 0), "\(text)")
  }
}
