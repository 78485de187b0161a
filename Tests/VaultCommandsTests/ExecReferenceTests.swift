import Foundation
import TestSupport
import Testing

/// Verified to fail when a reference is looked up as a name, when a line break is put into a variable, and when the file of variables is read
/// a second time.
@Suite("vaultctl run with references", .bounded)
struct ExecReferenceTests {
  private static func fill(_ tool: Tool) throws {
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool.run(["add", "db", "--account", "app"], input: Array("db-pw".utf8)))
    expect(0, try tool("add", "web/shop", input: Array("shop".utf8)))
    expect(0, try tool("add", "lines", input: Array("one\ntwo".utf8)))
    expect(0, try tool("add", "ended", input: Array("one\n".utf8)))
    expect(0, try tool("add", "cr", input: Array("a\rb".utf8)))
    expect(0, try tool("add", "nul", input: [65, 0, 66]))
    expect(0, try tool("add", "op://a/b", input: Array("named".utf8)))
  }

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try Self.fill(tool)
    return tool
  }

  @Test("a reference stands wherever a name does, beside names", arguments: [false, true])
  func places(inAgent: Bool) throws {
    try Tool.$usesAgent.withValue(inAgent) {
      let tool = try newTool()
      let run = try tool(
        "run", "--env", "A=vaultctl://db/password", "--env", "B=vaultctl://db/account", "--env", "C=db",
        "--fd",
        "7=vaultctl://web/shop/password", "--file", "F=vaultctl://web%2Fshop", "--", "sh", "-c",
        "printf '%s ' \"$A\" \"$B\" \"$C\"; cat <&7; cat \"$F\"")
      expect(0, run)
      expect(run.text, equals: "db-pw app db-pw shopshop")
      expect(run.errors, equals: "vaultctl: resolving db/account, db/password, web/shop/password\n")
      // A name that looks like the reference of another program is a name.
      let named = try tool("run", "--env", "A=op://a/b", "--", "sh", "-c", "printf %s \"$A\"")
      #expect(named.text == "named" && named.errors.isEmpty, "\(named.errors)")
    }
  }

  @Test(
    "what is no value for its place is refused, and nothing runs",
    arguments: [
      (["--env", "A=vaultctl://"], 12, "--env number 1: the reference 'vaultctl://' has no name"),
      (["--fd", "3=vaultctl://db/"], 12, "--fd number 1"),
      (["--file", "F=vaultctl:db"], 12, "--file number 1"),
      (["--env", "A=vaultctl://nobody"], 1, "--env number 1, nobody/password: there is no item"),
      (
        ["--env", "A=db", "--env", "B=vaultctl://db/x"], 1,
        "--env number 2, db/x: the entry has no field \"x\""
      ),
      (["--env", "A=op://no/b"], 1, "a reference begins with vaultctl://"),
      (["--env", "A=vaultctl://code"], 9, "--env number 1, code/password: the item is"),
      (["--env", "A=lines"], 12, "the value for the variable A has a line break"),
      (["--env", "A=vaultctl://lines"], 12, "has a line break"),
      (["--env", "A=ended"], 12, "has a line break"),
      (["--env", "A=cr"], 12, "has a line break"), (["--env", "A=vaultctl://nul"], 12, "has a NUL byte"),
    ] as [([String], Int32, String)])
  func refused(words: [String], exit: Int32, why: String) throws {
    let tool = try newTool()
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    expect(0, try tool("otp", "add", "code", input: Array(uri.utf8)))
    let run = try tool.run(["run"] + words + ["--", "echo", "ran"])
    expect(exit, run, why)
    expect(run.output, equals: [])
    #expect(!run.errors.contains("one\n") && !run.errors.contains("db-pw"))
    // Files and descriptors take any value.
    expect(0, try tool("run", "--fd", "3=lines", "--file", "F=vaultctl://nul", "--", "true"))
  }

  @Test(
    "a file of variables gives references and other values, beside the options", arguments: [false, true])
  func environmentFile(inAgent: Bool) throws {
    try Tool.$usesAgent.withValue(inAgent) {
      let tool = try newTool()
      tool.environment["B"] = "before"
      let file = try tool.file("env", "# for the server\n\nA=vaultctl://db/password\nB=$HOME \"x\"\nC=\n")
      let script = "printf '%s|' \"$A\" \"$B\" \"${C-unset}\" \"$D\""
      let run = try tool("run", "--env-file", file, "--env", "D=web/shop", "--", "sh", "-c", script)
      expect(run.text, equals: "db-pw|$HOME \"x\"||shop|", "\(run.errors)")
      expect(run.errors, equals: "vaultctl: resolving db/password, web/shop/password\n")
      // A pipe is read once, and the program does not get it.
      let piped =
        "\"$0\" run --env-file /dev/fd/3 -- sh -c 'printf \"%s \" \"$A\"; (cat <&3) 2> /dev/null' 3< \"$1\""
      try expect(tool.run(["-c", piped, Tool.path, file], program: "/bin/sh").text, equals: "db-pw ")
      let once = "cat \"$1\" | \"$0\" run --env-file /dev/stdin -- sh -c 'printf \"%s \" \"$A\"; cat'"
      try expect(tool.run(["-c", once, Tool.path, file], program: "/bin/sh").text, equals: "db-pw ")
    }
  }

  @Test(
    "a file of variables that cannot be used is refused with its line", arguments: [false, true])
  func environmentFileRefused(inAgent: Bool) throws {
    try Tool.$usesAgent.withValue(inAgent) {
      let tool = try newTool()
      let cases: [(String, Int32, String)] = [
        ("A=1\nB", 12, "line 2 of the file of --env-file has no ="),
        ("A=vaultctl://db/no", 1, "line 1 of the file of --env-file, db/no"),
        ("A=1\nA=2", 2, "line 2 of the file of --env-file names a place that is taken already"),
        ("D=1", 2, "names a place that is taken already"), ("A=1\n\n\u{1}=x", 12, "line 3"),
        ("A=vaultctl://lines", 12, "the value for the variable A has a line break"),
        ("A=a\rb", 12, "has a line break"),
      ]
      for (text, exit, why) in cases {
        let file = try tool.file("env", text)
        let run = try tool("run", "--env-file", file, "--env", "D=db", "--", "echo", "ran")
        expect(exit, run, why)
        expect(run.output, equals: [])
      }
      expect(13, try tool("run", "--env-file", tool.home.path + "/none", "--", "true"), "opening")
      let long = try tool.file("env", String(repeating: "#\n", count: 1 << 20) + "A=1")
      expect(12, try tool("run", "--env-file", long, "--", "true"), "is too long, at most 2 MiB")
    }
  }

  @Test("variables of a file without a reference need no vault to be unlocked, and an empty one is enough")
  func plainFile() throws {
    let tool = try Tool()
    expect(0, try tool.run(["init", "--passcode-fd", "3"], secrets: [3: "passcode"]))
    let file = try tool.file("env", "A=1\n")
    try expect(
      tool("run", "--env-file", file, "--no-input", "--", "sh", "-c", "echo $A").text, equals: "1\n")
    let empty = try tool.file("env", "")
    expect(0, try tool("run", "--env-file", empty, "--", "true"))
    expect(2, try tool("run", "--", "true"), "nothing to hand over")
  }
}
