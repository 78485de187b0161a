import Foundation
import TestSupport
import Testing

/// Verified to fail when the passcode's descriptor stays open, when the vault is not closed (its log stays beside it),
/// when the memory file is not sealed, and when broken pipes stay ignored.
@Suite("vaultctl run", .bounded)
struct ExecVerbTests {
  private func newTool(_ passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    let words = passcode == nil ? ["--no-passcode"] : ["--passcode-fd", "3"]
    try expect(tool.run(["init"] + words, secrets: [3: passcode ?? ""]).exit, equals: 0)
    return tool
  }

  private func add(_ tool: Tool, _ name: String, _ secret: [UInt8], _ passcode: String? = nil) throws {
    let words = ["add", name] + (passcode == nil ? [] : ["--passcode-fd", "3"])
    try expect(tool.run(words, input: secret, secrets: [3: passcode ?? ""]).exit, equals: 0)
  }

  @Test("the program finds each secret where it was asked for, byte for byte, and never in its words")
  func handedOver() throws {
    let tool = try newTool()
    let binary: [UInt8] = [0, 10, 255, 0, 13]
    try add(tool, "binary", binary)
    try add(tool, "mail", Array("correct horse".utf8))
    try expect(tool("run", "--fd", "7=binary", "--", "sh", "-c", "cat <&7").output, equals: binary)
    try expect(tool("run", "--no-masking", "--fd", "0=mail", "--", "cat").text, equals: "correct horse")
    try expect(
      tool("run", "--no-masking", "--file", "F=mail", "--", "sh", "-c", "cat \"$F\" \"$F\"").text,
      equals: "correct horsecorrect horse")
    try expect(
      tool("run", "--no-masking", "--env", "V=mail", "--", "sh", "-c", "printf %s \"$V\"").text,
      equals: "correct horse")
    let several = try tool(
      "run", "--no-masking", "--fd", "3=mail", "--fd", "4=binary", "--file", "F=binary", "--env", "V=mail",
      "--", "sh", "-c",
      "cmp \"$F\" /proc/self/fd/4 && cmp \"$F\" - <&4 && tr '\\0' ' ' < /proc/$$/cmdline && printf %s \"$V\" && cat <&3"
    )
    expect(several.exit, equals: 0, "\(several.errors)")
    expect(several.text.components(separatedBy: "correct horse").count, equals: 3)
  }

  @Test("a variable of the same name is replaced, all others stay")
  func variables() throws {
    let tool = try newTool()
    try add(tool, "mail", Array("new".utf8))
    tool.environment["V"] = "old"
    tool.environment["VV"] = "stays"
    let run = try tool("run", "--env", "V=mail", "--", "sh", "-c", "env | grep ^VV*= | sort")
    expect(run.text, equals: "V=new\nVV=stays\n")
  }

  @Test("the program gets no descriptor of the vault's, nor the one that brought the passcode")
  func descriptors() throws {
    let tool = try newTool("p")
    try add(tool, "mail", Array("s".utf8), "p")
    // The shell's glob opens the folder itself: ls says what each descriptor is.
    let run = try tool.run(
      ["run", "--passcode-fd", "9", "--fd", "5=mail", "--", "ls", "-l", "/proc/self/fd"], secrets: [9: "p"])
    expect(run.exit, equals: 0, "\(run.errors)")
    let open = run.text.split(separator: "\n").compactMap {
      $0.components(separatedBy: " -> ").last
    }
    .filter { $0.hasPrefix("/memfd") || $0.hasPrefix(tool.home.path) && !$0.contains("/run-") }
    expect(open, equals: ["/memfd:vaultctl (deleted)"], "\(run.text)")
    #expect(!run.text.contains(" 9 -> "))
    let folder = tool.home.path + "/.local/share/vaultctl"
    let beside = try tool.run(
      ["run", "--passcode-fd", "9", "--fd", "5=mail", "--", "ls", folder], secrets: [9: "p"])
    expect(
      beside.text.split(separator: "\n").filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }, equals: [])
    let stdin = try tool.run(
      ["run", "--passcode-fd", "0", "--fd", "5=mail", "--", "sh", "-c", "wc -c; wc -c <&5"],
      input: Array("p".utf8))
    expect(stdin.text.split(whereSeparator: \.isWhitespace), equals: ["0", "1"], "\(stdin.errors)")
  }

  @Test("the memory file is sealed: nobody writes it, shortens it or lengthens it")
  func sealed() throws {
    let tool = try newTool()
    try add(tool, "mail", Array("correct".utf8))
    let python = try Shell.need("python3")
    let script = """
      import fcntl, os
      print(fcntl.fcntl(3, 1034) & 15)
      for attempt in (lambda: os.pwrite(3, b"x", 0), lambda: os.ftruncate(3, 1), lambda: os.ftruncate(3, 99)):
          try: attempt(); print("changed")
          except PermissionError: print("refused")
      print(os.read(3, 99).decode())
      """
    let run = try tool("run", "--no-masking", "--fd", "3=mail", "--", python, "-c", script)
    expect(run.text, equals: "15\nrefused\nrefused\nrefused\ncorrect\n", "\(run.errors)")
  }

  @Test("the exit code is the program's, and a signal ends it as if vaultctl were not there")
  func ends() throws {
    let tool = try newTool()
    try add(tool, "mail", [1])
    for code in [0, 1, 7, 255] {
      try expect(tool("run", "--fd", "3=mail", "--", "sh", "-c", "exit \(code)").exit, equals: Int32(code))
    }
    // A test that runs in the background inherits some of these signals as ignored.
    let program = ["env", "--default-signal", "sh", "-c"]
    for signal in [SIGTERM, SIGINT, SIGPIPE, SIGQUIT] {
      let words = ["run", "--fd", "3=mail", "--"] + program + ["kill -\(signal) $$"]
      try expect(tool.run(words).exit, equals: -signal)
    }
    var child = Child(Tool.path, ["run", "--fd", "3=mail", "--", "sleep", "infinity"], tool.environment)
    child.create(2, tool.home.path + "/errors")
    let running = try child.start()
    try waitUntil("vaultctl becomes the program") {
      try String(contentsOfFile: "/proc/\(running.pid)/comm", encoding: .utf8) == "sleep\n"
    }
    running.kill(SIGTERM)
    try expect(running.wait(), equals: -SIGTERM)
  }

  @Test(
    "what cannot be handed over is refused before anything runs",
    arguments: [
      (["--", "true"], 2), (["--fd", "3=mail"], 2), (["--fd", "3=mail", "--"], 2),
      (["--fd", "1=mail", "--", "true"], 2),
      (["--fd", "2=mail", "--", "true"], 2), (["--fd", "-3=mail", "--", "true"], 2),
      (["--fd", "mail", "--", "true"], 2),
      (["--fd", "3=mail", "--fd", "3=other", "--", "true"], 2),
      (["--file", "A=mail", "--env", "A=mail", "--", "true"], 2),
      (["--env", "1A=mail", "--", "true"], 2), (["--env", "=mail", "--", "true"], 2),
      (["--fd", "3=", "--", "true"], 12),
      (["--fd", "99999999=mail", "--", "true"], 2), (["--fd", "3=nobody", "--", "true"], 1),
      (["--env", "A=binary", "--", "true"], 12), (["--fd", "3=code", "--", "true"], 9),
      (["--fd", "3=mail", "--", "/nonexistent/program"], 127),
      (["--fd", "3=mail", "--", "no-such-program"], 127),
      (["--fd", "3=mail", "--", "/dev/null/x"], 127), (["--fd", "3=mail", "--", "/dev/null"], 126),
      (["--fd", "3=mail", "--", "/"], 126),
    ] as [([String], Int32)])
  func refusals(words: [String], exit: Int32) throws {
    let tool = try newTool()
    try add(tool, "mail", Array("s".utf8))
    try add(tool, "binary", [1, 0, 2])
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    try expect(tool("otp", "add", "code", input: Array(uri.utf8)).exit, equals: 0)
    let run = try tool.run(["run"] + words)
    expect(run.exit, equals: exit, "\(words): \(run.errors)")
    #expect(!run.errors.isEmpty && run.output.isEmpty)
    let json = try tool.run(["run", "--json"] + words)
    #expect(try json.exit == exit && json.error["exit"] as? Int == Int(exit))
  }

  @Test(
    "exec writes nothing to the audit for an item that does not ask for it, and an entry for one that does")
  func audited() throws {
    let tool = try newTool()
    try add(tool, "quiet", [1])
    try add(tool, "loud", [1])
    try expect(tool("edit", "loud", "--audit", "all").exit, equals: 0)
    let before = try tool("audit").text.split(separator: "\n").count
    try expect(tool("run", "--fd", "3=quiet", "--", "true").exit, equals: 0)
    try expect(tool("audit").text.split(separator: "\n").count, equals: before)
    try expect(tool("run", "--fd", "3=loud", "--", "true").exit, equals: 0)
    let entries = try #require(try tool("audit", "--json").json["items"] as? [[String: Any]])
    expect(entries.count, equals: before + 1)
    #expect(entries.last?["operation"] as? String == "itemRead" && entries.last?["name"] as? String == "loud")
  }
}
