import Foundation
import Glibc
import TestSupport
import Testing

@Suite("--transport", .bounded, .serialized)
struct TransportOptionTests {
  private let words = ["otp", "activate", "start", "bank", "--code-fd", "3", "--transport"]

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  /// Becomes, or starts, a program that notes its number, and hangs: only a signal ends it.
  private func hanging(_ tool: Tool, becoming: Bool = true) throws -> String {
    let home = tool.home.path
    let program = try tool.program(
      "hanging",
      "#!/bin/sh\necho $$ > \(home)/pid.part\nmv \(home)/pid.part \(home)/pid\nexec sleep infinity\n")
    return try tool.program("transport", "#!/bin/sh\n\(becoming ? "exec " : "")\(program)\nexit $?\n")
  }

  @Test("a relative path is wrong usage, and a file that cannot be a transport is a failure of the peer")
  func files() throws {
    let tool = try newTool()
    _ = try tool.file("plain", "#!/bin/sh\n")
    let open = try tool.program("open", "#!/bin/sh\n")
    unsafe chmod(open, 0o722)
    for (path, exit, flaw) in [
      ("transport", 2, "--transport takes an absolute path"),
      ("./transport", 2, "--transport takes an absolute path"),
      ("", 2, "--transport is empty"), (tool.home.path + "/absent", 16, "does not exist"),
      (tool.home.path + "/plain", 16, "is not executable"), (open, 16, "can be changed by others"),
      (tool.home.path, 16, "is not a program"),
    ] {
      let run = try tool.run(words + [path], secrets: [3: "123456"])
      #expect(run.exit == Int32(exit) && run.errors.contains(flaw), "\(run.exit) \(run.errors)")
      #expect(run.output.isEmpty)
    }
    let without = try tool.run(Array(words.dropLast()), secrets: [3: "123456"])
    #expect(without.exit == 2 && without.errors.contains("--transport PROGRAM"), "\(without.errors)")
  }

  /// Verified to fail when the transport is looked at first.
  @Test("a missing vault is reported before a missing transport")
  func noVault() throws {
    let tool = try Tool()
    for words in [
      ["oauth", "register", "shop", "--template", "t1", "--url", "https://as.example"],
      ["card", "consent", "request", "view", "--user", "u", "--card", "c"],
    ] {
      expect(14, try tool.run(words), "no vault")
      expect(14, try tool.run(words + ["--transport", "/absent"]), "no vault")
    }
  }

  /// Verified to fail when the program is not bound to the thread that waits for it.
  @Test(
    "Ctrl-C while a transport hangs ends the tool and the transport, and nothing is stored",
    arguments: [SIGINT, SIGTERM, SIGKILL])
  func interrupted(signal: Int32) throws {
    let tool = try newTool()
    try interrupt(tool, at: hanging(tool), with: signal)
  }

  /// Verified to fail when no handler kills the group of the transport.
  @Test("what a transport has started ends with the tool", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func interruptedScript(signal: Int32) throws {
    let tool = try newTool()
    try interrupt(tool, at: hanging(tool, becoming: false), with: signal)
  }

  private func interrupt(_ tool: Tool, at path: String, with signal: Int32) throws {
    let file = tool.home.path + "/.local/share/vaultctl/default.vault"
    let code = try tool.file("code", "123456")
    var child = Child(
      Tool.path, ["otp", "activate", "start", "bank", "--code-file", code, "--transport", path],
      tool.environment)
    for number in Int32(0)...2 { child.open(number, "/dev/null", flags: O_RDWR) }
    let before = try tool("ls").output
    let running = try child.start()
    let pid = try process(tool)
    running.kill(signal)
    try waitUntil("the tool ends") { !running.isRunning }
    try expect(running.wait(), equals: signal == SIGINT ? 130 : -signal)
    try waitUntil("the transport ends") { hasEnded(pid) }
    try expect(tool("ls").output, equals: before)
    #expect(FileManager.default.fileExists(atPath: file))
    try expect(tool("otp", "activate", "status", "bank").exit, equals: 1)
  }

  /// Verified to fail when a sentence is escaped as a name is.
  @Test("a path with a hidden character is escaped once")
  func hiddenPath() throws {
    let tool = try newTool()
    let words = ["otp", "activate", "start", "bank", "--transport", "/nowhere/a\u{1B}[2Jb"]
    let run = try tool.run(words)
    expect(run.exit, equals: 16)
    #expect(run.errors.contains(#"the transport /nowhere/a\u{1B}[2Jb does not exist"#), "\(run.errors)")
    let json = try tool.run(words + ["--json"])
    #expect(json.errors.contains(#"/nowhere/a\\u{1B}[2Jb does not exist"#), "\(json.errors)")
  }

  /// Verified to fail when the path is not looked at.
  @Test("a path that is another file in each process is refused before anything is stored")
  func kernelPath() throws {
    let tool = try newTool()
    let before = try tool("ls").output
    for path in ["/dev/stdin", "/proc/self/fd/0"] {
      let run = try tool.run(["otp", "activate", "start", "bank", "--transport", path])
      #expect(run.exit == 16 && run.errors.contains("another file in each process"), "\(run.errors)")
    }
    try expect(tool("ls").output, equals: before)
  }

  @Test("a code is asked for once, as its own question, and does not show")
  func prompt() throws {
    let tool = try newTool()
    let path = try tool.program("transport", "#!/bin/sh\nexit 1\n")
    let screen = try PseudoTerminal()
    let running = try tool.start(["otp", "activate", "start", "bank", "--transport", path], on: screen)
    try screen.wait(for: "code: ")
    screen.type("4711-0815\n")
    try screen.wait(for: "ended with exit code 1")
    try expect(running.wait(), equals: 16)
    expect(screen.transcript.components(separatedBy: "code: ").count, equals: 2, "\(screen.transcript)")
    #expect(!screen.transcript.contains("4711"))
  }

  /// The number that ``hanging(_:)`` noted.
  private func process(_ tool: Tool) throws -> pid_t {
    let path = tool.home.path + "/pid"
    try waitUntil("the transport runs") { FileManager.default.fileExists(atPath: path) }
    return try #require(pid_t(try String(contentsOfFile: path, encoding: .utf8).filter(\.isNumber)))
  }
}
