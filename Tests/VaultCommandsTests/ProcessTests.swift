import Foundation
import TestSupport
import Testing

@Suite("The process and its descriptors", .bounded, .serialized)
struct ProcessTests {
  private func newTool(_ passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    let words = passcode == nil ? ["--no-passcode"] : ["--passcode-fd", "3"]
    try expect(tool.run(["init"] + words, secrets: [3: passcode ?? ""]).exit, equals: 0)
    return tool
  }

  private func output(_ tool: Tool) throws -> [UInt8] {
    Array(try Data(contentsOf: tool.home.appendingPathComponent("output")))
  }

  @Test("a result that cannot be written is exit 13, or SIGPIPE where its reader has gone, never success")
  func writeErrors() throws {
    let tool = try newTool()
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    for words in [
      ["get", "a"], ["ls", "--json"], ["version"], ["--help"], ["completion", "bash"],
    ] {
      var full = Child(Tool.path, words, tool.environment)
      full.open(1, "/dev/full", flags: O_WRONLY)
      full.create(2, tool.home.path + "/errors")
      try expect(full.start().wait(), equals: 13, "\(words) on a full disk")
      var closed = Child(Tool.path, words, tool.environment)
      closed.close(1)
      closed.create(2, tool.home.path + "/errors")
      try expect(closed.start().wait(), equals: 13, "\(words) with standard output closed")
    }
    let bash = try Shell.need("bash")
    // The tool starts when nobody can read any more: a reader that merely ends soon may end too late.
    let gate = tool.home.path + "/gate"
    unsafe expect(mkfifo(gate, 0o600), equals: 0)
    let pipe = """
      { read -r <'\(gate)'; '\(Tool.path)' completion bash; } | { exec <&-; echo >'\(gate)'; }
      exit ${PIPESTATUS[0]}
      """
    try expect(tool.run(["-c", pipe], program: bash).exit, equals: 128 + SIGPIPE)
  }

  @Test("closed descriptors never become files of ours")
  func closedDescriptors() throws {
    let tool = try newTool()
    var child = Child(Tool.path, ["add", "a", "--generate", "8"], tool.environment)
    for descriptor in Int32(0)...2 { child.close(descriptor) }
    try expect(child.start().wait(), equals: 0)
    try expect(tool("vault", "check").exit, equals: 0)
  }

  @Test("a passcode is asked for on the terminal, without echo, and says for what")
  func prompt() throws {
    let tool = try newTool("correct horse")
    try expect(
      tool("add", "a", "--passcode-fd", "3", input: [7], secrets: [3: "correct horse"]).exit,
      equals: 0)
    let screen = try PseudoTerminal()
    let running = try tool.start(["get", "a"], on: screen, typed: false)
    try screen.wait(
      for:
        "vaultctl get 'a': unlock the vault\r\n  an empty answer cancels\r\nvault passcode: "
    )
    #expect(!screen.echoes)
    screen.type("correct horse\n")
    try expect(running.wait(), equals: 0)
    try expect(output(tool), equals: [7])
    #expect(screen.echoes && !screen.drain().contains("horse"))
  }

  @Test(
    "the prompt of a constrained item says what is about to happen, asks again after a wrong passcode, and can be declined"
  )
  func constrainedItem() throws {
    let tool = try newTool("p")
    try expect(
      tool(
        "add", "bank", "--access", "passcode", "--passcode-fd", "3", input: [7], secrets: [3: "p"]
      ).exit, equals: 0)
    let screen = try PseudoTerminal()
    let running = try tool.start(["get", "bank"], on: screen, typed: false)
    try screen.wait(for: "read the secret: 'bank'")
    try screen.wait(for: "passcode: ")
    #expect(!screen.echoes)
    screen.type("wrong\n")
    try screen.wait(for: "wrong passcode")
    try screen.wait(for: "passcode: ")
    screen.type("p\n")
    try expect(running.wait(), equals: 0)
    try expect(output(tool), equals: [7])
    #expect(screen.echoes && !screen.drain().contains("wrong"))
    let declined = try tool.start(["get", "bank"], on: screen, typed: false)
    try screen.wait(for: "passcode: ")
    screen.type("\u{3}")
    try expect(declined.wait(), equals: 5)
    #expect(screen.echoes)
  }

  @Test("data on a terminal is asked for twice and must agree")
  func typedData() throws {
    let tool = try newTool()
    for (second, exit) in [("secret", Int32(0)), ("secrte", 12)] {
      // Entries that differ are asked for again, three times in all.
      let rounds = exit == 0 ? 1 : 3
      let screen = try PseudoTerminal()
      let words = ["add", "n\(exit)", "--account", "a", "--url", "https://a.example"]
      let running = try tool.start(words, on: screen)
      for _ in 0..<rounds {
        try screen.wait(for: "generated): ")
        screen.type("secret\n")
        try screen.wait(for: "password again: ")
        screen.type(second + "\n")
      }
      try expect(running.wait(), equals: exit)
      #expect(screen.echoes)
    }
    try expect(tool("get", "n0").text, equals: "secret")
    try expect(tool("get", "n12").exit, equals: 1)
  }

  @Test("Ctrl-C at a prompt is exit 5, and echo is back", arguments: ["\u{3}", "\u{4}"])
  func cancelled(key: String) throws {
    let tool = try newTool("p")
    let screen = try PseudoTerminal()
    let running = try tool.start(["add", "a", "--generate", "8"], on: screen, typed: false)
    try screen.wait(for: "passcode: ")
    screen.type("half" + key + (key == "\u{4}" ? key : ""))
    try expect(running.wait(), equals: 5)
    #expect(screen.echoes)
  }

  /// Verified to fail, for those signals, when the signals of `PromptSignals.unhandled` are not watched and
  /// `clinux_guard_terminal` does nothing.
  @Test(
    "each signal that can end the process at a prompt does so with echo back", .requirement("Q9"),
    arguments: [
      SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR,
      SIGSTKFLT,
      34, 64, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
    ])
  func signalled(signal: Int32) throws {
    let tool = try newTool("p")
    let screen = try PseudoTerminal()
    let running = try tool.start(["add", "a", "--generate", "8"], on: screen, typed: false)
    try screen.wait(for: "passcode: ")
    #expect(!screen.echoes)
    running.kill(signal)
    try expect(running.wait(), equals: -signal)
    #expect(screen.echoes)
  }

  @Test("Ctrl-C outside a prompt is exit 130")
  func interrupted() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["audit", "--follow", "--json"], on: screen, typed: false)
    try waitUntil("the entries are shown") { try !output(tool).isEmpty }
    screen.type("\u{3}")
    try expect(running.wait(), equals: 130)
    try expect(output(tool).last, equals: UInt8(ascii: "\n"))
  }

  @Test("on a terminal a newline follows a secret, in a pipe nothing does")
  func newline() throws {
    let tool = try newTool()
    try expect(tool("add", "a", input: Array("secret".utf8)).exit, equals: 0)
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, ["get", "a"], tool.environment)
    child.open(1, screen.path, flags: O_RDWR)
    try expect(child.start().wait(), equals: 0)
    expect(screen.drain(), equals: "secret\r\n")
  }

  @Test("--no-input on a terminal is exit 6 at once")
  func noInput() throws {
    let tool = try newTool("p")
    let screen = try PseudoTerminal()
    for words in [
      ["add", "a", "--no-input"], ["add", "a", "--generate", "8", "--prompt", "none"],
    ] {
      try expect(tool.start(words, on: screen).wait(), equals: 6)
    }
  }

  @Test("an unwritable folder, a foreign owner and a folder open to others are refused with 13")
  func places() throws {
    let tool = try newTool()
    let open = tool.home.path + "/open"
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
    let run = try tool("init", "--no-passcode", "--vault", open + "/v")
    #expect(run.exit == 13 && run.errors.split(separator: "\n").count >= 2, "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: open).isEmpty)
    try expect(tool("init", "--no-passcode", "--vault", "/proc/v").exit, equals: 13)
    #expect(try tool("ls", "--vault", "/etc/hostname").exit != 0)
    try expect(tool("ls", "--vault", tool.home.path).exit, equals: 13)
  }
}
