import Foundation
import TestSupport
import Testing

/// What a person sees who types at a terminal.
@Suite("At the keyboard", .bounded, .serialized)
struct KeyboardTests {
  private static let passcode = "correct horse battery staple"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--passcode-fd", "3", secrets: [3: Self.passcode]))
    return tool
  }

  @Test(
    "init refuses an empty passcode at once, asks again where the entries differ, and names what comes next")
  func first() throws {
    let tool = try Tool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["init"], on: screen)
    try screen.wait(for: "new vault passcode: ")
    screen.type("\n")
    try screen.wait(for: "an empty passcode is refused")
    for (first, second) in [("one", "other"), (Self.passcode, Self.passcode)] {
      try screen.wait(for: "new vault passcode: ")
      screen.type(first + "\n")
      try screen.wait(for: "new vault passcode again: ")
      screen.type(second + "\n")
    }
    try screen.wait(for: "make a recovery code now? [y/N] ")
    #expect(screen.transcript.split(separator: "entries of the passcode differ").count == 2)
    screen.type("n\n")
    for line in ["vaultctl add NAME", "vaultctl get NAME -c", "vaultctl backup FILE"] {
      try screen.wait(for: "vaultctl:   " + line)
    }
    try expect(running.wait(), equals: 0)
  }

  @Test(
    "Ctrl-C at the question for a recovery code leaves a vault without one, and says so on a line of its own")
  func declined() throws {
    let tool = try Tool()
    let screen = try PseudoTerminal()
    let file = try tool.file("pass", Self.passcode)
    let running = try tool.start(["init", "--passcode-file", file], on: screen)
    try screen.wait(for: "make a recovery code now? [y/N] ")
    screen.type("\u{3}")
    try screen.wait(
      for:
        "the vault exists without a recovery code: 'vaultctl recovery-code new' makes one\r\n")
    try expect(running.wait(), equals: 5)
    #expect(screen.transcript.contains("[y/N] ^C\r\n"))
    expect(0, try tool("ls"))
  }

  @Test("three entries that differ end the command, and nothing is made")
  func differ() throws {
    let tool = try Tool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["init"], on: screen)
    for round in 0..<3 {
      try screen.wait(for: "new vault passcode: ")
      screen.type("one \(round)\n")
      try screen.wait(for: "new vault passcode again: ")
      screen.type("other\n")
    }
    try expect(running.wait(), equals: 12)
    expect(14, try tool("status"))
  }

  @Test(
    "a name that is taken is told before anything is asked",
    arguments: ["otp add", "key generate", "key import", "pin set", "add", "gen"])
  func taken(verb: String) throws {
    let tool = try newTool()
    expect(0, try tool("key", "generate", "here", "--passcode-fd", "3", secrets: [3: Self.passcode]))
    let screen = try PseudoTerminal()
    let running = try tool.start(verb.split(separator: " ").map(String.init) + ["here"], on: screen)
    try screen.wait(for: "there is an item 'here' already")
    try expect(running.wait(), equals: 8)
    #expect(!screen.transcript.contains("passcode: "))
  }

  @Test("a URI is pasted once")
  func pasted() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["otp", "add", "bank"], on: screen)
    try screen.wait(for: "vault passcode: ")
    screen.type(Self.passcode + "\n")
    try screen.wait(for: "otpauth:// URI: ")
    screen.type("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n")
    try expect(running.wait(), equals: 0)
    #expect(!screen.transcript.contains("URI again"))
  }

  @Test("a wrong passcode is told without a word of a generated password")
  func generated() throws {
    let tool = try newTool()
    let run = try tool("gen", "shop", "--passcode-fd", "3", secrets: [3: "wrong"])
    #expect(run.exit == 3 && !run.errors.contains("generated"), "\(run.errors)")
  }

  @Test("a reference in braces in a file of variables is told by the name of its variable")
  func braces() throws {
    let tool = try newTool()
    let file = try tool.file("variables", "X=a{{ vaultctl://mail/password }}\nY={{ other }}\n")
    let run = try tool("run", "--env-file", file, "--", "sh", "-c", "printf %s \"$X\"")
    expect(run.text, equals: "a{{ vaultctl://mail/password }}")
    #expect(run.errors.contains("the variable X gets {{ }} as it is"), "\(run.errors)")
    #expect(!run.errors.contains("variable Y"))
  }
}
