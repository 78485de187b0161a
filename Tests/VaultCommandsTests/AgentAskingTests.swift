import Foundation
import TestSupport
import Testing
import VaultCommands

/// Who shows the prompts of commands that run in the agent: its setting decides, and no command.
@Suite("Who is asked", .bounded, .requirement("G16"))
struct AgentAskingTests {
  @Test(
    "a terminal that the agent names is asked, whatever terminal the command has, and sees which program asks"
  )
  func terminal() throws {
    let home = try AgentHome()
    let (asked, own) = (try HeldTerminal(), try PseudoTerminal())
    expect(0, try home.tool("agent", "start", "--ask", "terminal", "--terminal", asked.screen.path))
    let running = try home.tool.start(["get", "mail"], on: own)
    try asked.screen.wait(for: "vaultctl get 'mail': ")
    try asked.screen.wait(for: "(process \(getpid()))")
    try asked.screen.wait(for: "vault passcode: ")
    asked.screen.type("1234\n")
    try expect(running.wait(), equals: 0)
    try expect(String(contentsOfFile: home.tool.home.path + "/output", encoding: .utf8), equals: "tok-1")
    try own.wait(for: "vaultctl: the agent asks through \(asked.screen.path)")
    #expect(!own.drain().contains("passcode") && !asked.screen.transcript.contains("1234"))
    let status = try home.tool("agent", "status", "--json").json
    expect(status["asks"] as? String, equals: "terminal")
    expect(status["terminal"] as? String, equals: asked.screen.path)
  }

  @Test(
    "where each command asks by itself, its prompts name the item and the program that has started it too")
  func client() throws {
    let home = try AgentHome()
    let add = ["add", "bank", "--access", "passcode", "--passcode-file", home.passcode]
    expect(0, try home.tool.run(add, input: Array("tok-2".utf8)))
    expect(0, try home.tool("agent", "start"))
    for (name, secret) in [("mail", "tok-1"), ("bank", "tok-2")] {
      let own = try PseudoTerminal()
      let running = try home.tool.start(["get", name], on: own)
      try own.wait(for: "vaultctl get")
      try own.wait(for: "'\(name)'")
      try own.wait(for: "asked by ")
      try own.wait(for: "(process \(getpid()))")
      try own.wait(for: "  through \(Tool.path)")
      try own.wait(for: "passcode: ")
      own.type("1234\n")
      try expect(running.wait(), equals: 0)
      try expect(String(contentsOfFile: home.tool.home.path + "/output", encoding: .utf8), equals: secret)
    }
  }

  @Test("a command that names another way to ask is refused, and no other terminal is asked")
  func otherWay() throws {
    let home = try AgentHome()
    let asked = try HeldTerminal()
    expect(0, try home.tool("agent", "start", "--ask", "terminal", "--terminal", asked.screen.path))
    let words = ["get", "mail", "--prompt", "pinentry"]
    expect(6, try home.tool.run(words), "the agent asks through \(asked.screen.path)")
    expect(6, try home.tool("get", "mail", "--no-input"))
    #expect(!asked.screen.drain().contains("passcode"))
  }

  @Test("a prompt of the agent ends with the command, and the terminal is as before")
  func gone() throws {
    let home = try AgentHome()
    let (asked, own) = (try HeldTerminal(), try PseudoTerminal())
    expect(0, try home.tool("agent", "start", "--ask", "terminal", "--terminal", asked.screen.path))
    for signal in [SIGTERM, SIGKILL] {
      let running = try home.tool.start(["get", "mail"], on: own)
      try asked.screen.wait(for: "vault passcode: ")
      running.kill(signal)
      try expect(running.wait(), equals: -signal)
      try waitUntil("the end of the prompt") { asked.screen.echoes }
    }
  }

  @Test("'agent stop' ends a prompt of the agent")
  func stopped() throws {
    let home = try AgentHome()
    let (asked, own) = (try HeldTerminal(), try PseudoTerminal())
    expect(0, try home.tool("agent", "start", "--ask", "terminal", "--terminal", asked.screen.path))
    let running = try home.tool.start(["get", "mail"], on: own)
    try asked.screen.wait(for: "vault passcode: ")
    expect(0, try home.tool("agent", "stop"))
    // Would fail at b471ba6f: 5, as if a person had cancelled.
    try expect(running.wait(), equals: 13)
    try own.wait(for: "the agent is ending")
    #expect(asked.screen.echoes)
  }

  @Test("while another program reads the named terminal key by key, nobody is asked")
  func inUse() throws {
    let home = try AgentHome()
    let asked = try HeldTerminal()
    expect(0, try home.tool("agent", "start", "--ask", "terminal", "--terminal", asked.screen.path))
    asked.readKeys()
    expect(
      6, try home.tool("get", "mail"),
      "the agent asks on \(asked.screen.path), where another program reads from this terminal")
  }

  @Test("the terminal from which the vault was unlocked is asked, and no other one when it is gone")
  func unlocker() throws {
    let home = try AgentHome()
    let add = ["add", "bank", "--access", "passcode", "--passcode-file", home.passcode]
    expect(0, try home.tool.run(add, input: Array("tok-2".utf8)))
    expect(0, try home.tool("agent", "start", "--ask", "unlocker"))
    let (asked, own) = (try PseudoTerminal(), try PseudoTerminal())
    let shell = try home.tool.start(
      shell: Shell.need("sh"), ["-c", "\"$T\" unlock && exec tail -f /dev/null"], on: asked)
    try asked.wait(for: "vault passcode: ")
    #expect(asked.transcript.contains("asked by"))
    asked.type("1234\n")
    try asked.wait(for: "unlocked  ")
    let running = try home.tool.start(["get", "bank"], on: own)
    try asked.wait(for: "asked by ")
    try asked.wait(for: "vault passcode: ")
    asked.type("1234\n")
    try expect(running.wait(), equals: 0)
    try expect(String(contentsOfFile: home.tool.home.path + "/output", encoding: .utf8), equals: "tok-2")
    try own.wait(for: "the agent asks through \(asked.path)")
    shell.kill(SIGKILL)
    try expect(shell.wait(), equals: -SIGKILL)
    try expect(home.tool.start(["get", "bank"], on: own).wait(), equals: 6)
    try own.wait(for: "the terminal from which the vault was unlocked is gone")
    #expect(!own.transcript.contains("passcode: "))
  }

  @Test("a vault that was unlocked without a terminal has nobody to ask, until it is locked")
  func unlockedWithoutTerminal() throws {
    let home = try AgentHome()
    let add = ["add", "bank", "--access", "passcode", "--passcode-file", home.passcode]
    expect(0, try home.tool.run(add, input: Array("tok-2".utf8)))
    expect(0, try home.tool("agent", "start", "--ask", "unlocker"))
    var child = Child(Tool.path, ["unlock", "--passcode-file", home.passcode], home.tool.environment)
    child.leadsSession = true
    try expect(child.start().wait(), equals: 0)
    let own = try PseudoTerminal()
    try expect(home.tool.start(["get", "bank"], on: own).wait(), equals: 6)
    try own.wait(for: "the agent does not know the terminal")
    expect(0, try home.tool("lock"))
    let running = try home.tool.start(["get", "mail"], on: own)
    try own.wait(for: "vault passcode: ")
    own.type("1234\n")
    try expect(running.wait(), equals: 0)
  }

  @Test("a pinentry of the agent is asked, with the variables of the agent and not those of the command")
  func pinentry() throws {
    let home = try AgentHome()
    let heard = home.tool.home.path + "/heard"
    home.tool.environment["VAULTCTL_PINENTRY"] = try home.tool.program(
      "pinentry", Self.script(writing: heard))
    home.tool.environment["DISPLAY"] = ":9"
    expect(0, try home.tool("agent", "start", "--ask", "pinentry"))
    home.tool.environment["VAULTCTL_PINENTRY"] = "/nowhere"
    home.tool.environment["DISPLAY"] = nil
    try expect(home.tool("get", "mail").text, equals: "tok-1")
    let lines = try String(contentsOfFile: heard, encoding: .utf8)
    #expect(lines.contains("asked%20by") || lines.contains("asked by"), "\(lines)")
    expect(0, try home.tool("lock"))
    expect(6, try home.tool("get", "mail", "--prompt", "terminal"))
  }

  @Test(
    "what 'agent start' cannot do is refused, and starts no agent",
    arguments: [
      ("2 --ask terminal", "absolute path"), ("2 --ask terminal --terminal pts/1", "absolute path"),
      ("2 --terminal /dev/pts/1", "--terminal is for --ask terminal"),
      ("2 --ask pinentry --terminal /dev/pts/1", "--terminal is for --ask terminal"),
      ("2 --ask me", "--ask takes one of client, unlocker, terminal, pinentry"),
      ("13 --ask terminal --terminal /dev/null", "/dev/null is not a terminal of yours"),
      ("13 --ask terminal --terminal /dev/nowhere", "/dev/nowhere is not a terminal of yours"),
    ])
  func refused(line: String, words: String) throws {
    let home = try AgentHome()
    let parts = line.split(separator: " ").map(String.init)
    let exit = try #require(Int32(parts[0]))
    expect(exit, try home.tool.run(["agent", "start"] + parts.dropFirst()), words)
    expect(1, try home.tool("agent", "status"))
  }

  @Test("an agent that runs keeps its setting, and a start with another one says so")
  func keeps() throws {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    expect(9, try home.tool("agent", "start", "--ask", "unlocker"), "keeps its own choice of who is asked")
    expect(0, try home.tool("agent", "start"))
    try expect(home.tool("agent", "status", "--json").json["asks"] as? String, equals: "client")
    #expect(try home.tool("agent", "status").text.contains("asks      each command asks by itself\n"))
  }

  @Test(
    "a setting becomes the arguments of the agent's program, and these the same setting",
    arguments: [AgentAsking.client, .unlocker, .terminal("/dev/pts/3"), .pinentry, .finger])
  func arguments(asking: AgentAsking) {
    expect(AgentAsking(arguments: asking.arguments), equals: asking)
  }

  @Test(
    "an agent takes no finger for a yes, and a keeper asks through no program or terminal of the person",
    arguments: [
      "--ask finger", "--keeper 1 --ask pinentry", "--keeper 1 --ask unlocker", "--keeper 1 --ask me",
    ])
  func setting(line: String) throws {
    let run = try Program(Built.path("vaultd"), line.split(separator: " ").map(String.init)).run()
    #expect(run.status == 2 && run.text.contains("usage: vaultd"), "\(run.text)")
  }

  @Test(
    "other arguments are no setting",
    arguments: [
      "--ask", "--ask me", "--terminal /dev/tty1", "--ask client --terminal /dev/tty1", "--ask terminal",
      "--ask terminal --terminal", "--ask terminal --terminal tty1", "--ask client --ask client", "client",
    ])
  func otherArguments(line: String) {
    #expect(AgentAsking(arguments: line.split(separator: " ").map(String.init)) == nil)
  }
}

extension AgentAskingTests {
  private static func script(writing path: String) -> String {
    """
    #!/bin/sh
    echo OK
    while read -r line; do
      echo "$line" >> '\(path)'
      case "$line" in GETPIN) echo 'D 1234'; echo OK;; BYE) exit;; *) echo OK;; esac
    done

    """
  }
}

/// A terminal that no session has, which stays open: a person keeps it for prompts.
private final class HeldTerminal {
  let screen: PseudoTerminal
  private let descriptor: Int32

  init() throws {
    screen = try PseudoTerminal()
    descriptor = unsafe open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// Sets the mode of a line editor.
  func readKeys() {
    var mode = termios()
    unsafe tcgetattr(descriptor, &mode)
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(descriptor, TCSANOW, &mode)
  }
}
