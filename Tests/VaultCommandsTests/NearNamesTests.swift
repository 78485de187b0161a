import Foundation
import TestSupport
import Testing

/// A piece of a name at a terminal.
///
/// Verified to fail when `rm` takes a piece; when a piece serves without a terminal; and when an item in the trash does not come first.
@Suite("Pieces of names", .bounded)
struct NearNamesTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    for name in ["work/GitHub", "many 1", "many 2"] {
      expect(0, try tool("add", name, input: Array("of \(name)".utf8)))
    }
    return tool
  }

  /// Runs a line of a shell on a terminal.
  private func type(_ line: String, _ tool: Tool, until end: String) throws -> String {
    let screen = try PseudoTerminal()
    let running = try tool.start(shell: "/bin/sh", ["-c", line + "; echo end=$?."], on: screen)
    try screen.wait(for: end)
    try expect(running.wait(), equals: 0)
    return screen.transcript
  }

  @Test("one item that has the piece serves, and is named on standard error")
  func one() throws {
    let tool = try newTool()
    let shown = try type("\"$T\" get GITH 2>errors", tool, until: "end=")
    #expect(shown.contains("end=1."), "standard error is no terminal: \(shown)")
    for verb in ["get", "show", "history"] {
      let shown = try type("\"$T\" \(verb) gith", tool, until: "end=0.")
      #expect(shown.contains("vaultctl: using 'work/GitHub'"), "\(shown)")
    }
    let secret = try type("\"$T\" get gith", tool, until: "end=0.")
    #expect(secret.contains("of work/GitHub"))
  }

  @Test("in a script, with --json and with --no-input only an exact name serves")
  func scripts() throws {
    let tool = try newTool()
    expect(1, try tool("get", "gith"), "there is no item 'gith'")
    for option in ["--json", "--no-input"] {
      let shown = try type("\"$T\" get gith \(option)", tool, until: "end=1.")
      #expect(!shown.contains("of work/GitHub"))
    }
  }

  @Test("of several, none is taken and ten are named; a code is found by the entry that has it")
  func several() throws {
    let tool = try newTool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "many 2", input: Array(uri.utf8)))
    let two = try type("\"$T\" get many", tool, until: "end=1.")
    #expect(two.contains("several have that in their names: 'many 1', 'many 2'"), "\(two)")
    let code = try type("\"$T\" code many", tool, until: "end=0.")
    #expect(code.contains("using 'many 2'") && code.contains("755 224"), "\(code)")
    for number in 3...12 { expect(0, try tool("add", "many \(number)", input: [65])) }
    let twelve = try type("\"$T\" get many", tool, until: "end=1.")
    #expect(twelve.contains("and 2 more"), "\(twelve)")
    expect(twelve.components(separatedBy: "'many ").count, equals: 11)
  }

  @Test(
    "a verb that changes an item takes no piece, and asks whether the item was meant",
    arguments: ["rm gith", "mv gith x", "edit gith --label x", "undo gith"])
  func never(line: String) throws {
    let tool = try newTool()
    let before = try tool("ls", "--json").text
    let shown = try type("\"$T\" \(line)", tool, until: "end=1.")
    #expect(shown.contains("did you mean 'vaultctl ") && !shown.contains("using"), "\(shown)")
    try expect(tool("ls", "--json").text, equals: before)
  }

  @Test("a name in the trash is not taken for a piece, and a slip of two letters is a question")
  func near() throws {
    let tool = try newTool()
    expect(0, try tool("add", "GitHub", input: [65]))
    expect(0, try tool("rm", "GitHub"))
    let trashed = try type("\"$T\" get GitHub", tool, until: "end=1.")
    #expect(trashed.contains("it is in the trash") && !trashed.contains("using"), "\(trashed)")
    let slip = try type("\"$T\" get mnay1", tool, until: "end=1.")
    #expect(!slip.contains("using"), "\(slip)")
    let slips = try type("\"$T\" get work/gothub", tool, until: "end=1.")
    #expect(slips.contains("did you mean 'vaultctl "), "\(slips)")
  }
}
