import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

/// What a person lets a program do again, from the prompt to its end.
@Suite("Grants", .bounded, .requirement("G22"))
struct GrantVerbTests {
  /// A shell on a terminal of its own, as a person has it.
  private final class PersonsShell {
    let screen: PseudoTerminal
    private let running: Child.Running

    init(_ home: AgentHome) throws {
      screen = try PseudoTerminal()
      running = try home.tool.start(shell: "/bin/sh", [], on: screen)
      try screen.wait(for: "> ")
    }

    /// Types a command line. Its last word on the screen is its exit code.
    func type(_ line: String) { screen.type("\(line); echo \"ends $?\"\n") }

    func wait(exit code: Int32) throws {
      try screen.wait(for: "\nends ")
      try screen.wait(for: "\n")
      let said = screen.transcript.split(whereSeparator: \.isNewline).last { $0.hasPrefix("ends ") }
      expect(said.map { String($0) }, equals: "ends \(code)")
    }
  }

  private static func home() throws -> AgentHome {
    let home = try AgentHome()
    let add = ["add", "near", "--access", "presence", "--passcode-file", home.passcode]
    expect(0, try home.tool.run(add, input: Array("tok-near".utf8)))
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    return home
  }

  private static let question = "allow it? Enter: once, 5m: for 5 minutes, 3x: three times, n: no: "

  private func allow(_ answer: String, in shell: PersonsShell, exit code: Int32 = 0) throws {
    shell.type("$T item get near")
    try shell.screen.wait(for: "vault passcode: ")
    shell.screen.type("1234\n")
    try shell.screen.wait(for: Self.question)
    shell.screen.type(answer + "\n")
    try shell.wait(exit: code)
  }

  private func grants(_ home: AgentHome) throws -> [[String: Any]] {
    try #require(home.tool("agent", "grants", "--json").json["grants"] as? [[String: Any]])
  }

  private let quietly = "$T item get near --no-input"

  /// Verified to fail when a use is not counted, and when the grant is for every program of the terminal's user.
  @Test("three uses are three, in the shell that has them, and in no other one")
  func uses() throws {
    let home = try Self.home()
    let (own, other) = (try PersonsShell(home), try PersonsShell(home))
    try allow("3x", in: own)
    let grant = try #require(grants(home).first)
    #expect(grant["item"] as? String == "near" && grant["usesLeft"] as? Int == 2)
    #expect(grant["operation"] as? String == "read the secret")
    other.type(quietly)
    try other.wait(exit: 6)
    for code: Int32 in [0, 0, 6] {
      own.type(quietly)
      try own.wait(exit: code)
    }
    #expect(own.screen.transcript.components(separatedBy: "tok-near").count == 4)
    #expect(try grants(home).isEmpty)
    let audit = try home.tool("audit", "--item", "near", "--passcode-file", home.passcode).text
    #expect(audit.contains("grant: 3x: answered"))
    expect(audit.components(separatedBy: "given         ok          near  grant\n").count, equals: 3)
  }

  /// Verified to fail when the sessions of command and parent are not compared.
  @Test(
    "a grant is for what the shell starts itself: neither for a program of the program, nor for another session"
  )
  func started() throws {
    let home = try Self.home()
    let own = try PersonsShell(home)
    try allow("1h", in: own)
    own.type("sh -c '\(quietly); exit $?'")
    try own.wait(exit: 6)
    own.type("setsid -w $T item get near --no-input")
    try own.wait(exit: 6)
    // A child whose parent has ended.
    own.type("(sh -c '\(quietly); echo \"orphan $?\"' &)")
    try own.screen.wait(for: "\norphan ")
    try own.screen.wait(for: "\n")
    #expect(own.screen.transcript.contains("orphan 6"))
    own.type(quietly)
    try own.wait(exit: 0)
    own.type("exec tail -f /dev/null")
    try waitUntil("the end of the grant") { try grants(home).isEmpty }
  }

  @Test(
    "the lock, a change of the item and 'agent revoke' end it",
    arguments: ["lock", "change", "removal", "revoke"])
  func ends(by event: String) throws {
    let home = try Self.home()
    let own = try PersonsShell(home)
    try allow("5m", in: own)
    own.type(quietly)
    try own.wait(exit: 0)
    switch event {
    case "lock":
      expect(0, try home.tool("lock"))
      #expect(try grants(home).isEmpty)
      expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    case "change":
      let update = ["edit", "near", "--password", "--passcode-file", home.passcode]
      expect(0, try home.tool.run(update, input: Array("tok-new".utf8)))
      #expect(try grants(home).isEmpty)
    case "removal":
      expect(0, try home.tool("rm", "near"))
      #expect(try grants(home).isEmpty)
    default:
      let number = try #require(grants(home).first?["id"] as? Int)
      expect(1, try home.tool("agent", "revoke", String(number + 1)), "there is no grant")
      expect(0, try home.tool("agent", "revoke", String(number)))
      try expect(home.tool("agent", "revoke", "--all").text, equals: "there was no grant\n")
    }
    own.type(quietly)
    try own.wait(exit: event == "removal" ? 1 : 6)
  }

  @Test("no is no, and Enter is this once")
  func once() throws {
    let home = try Self.home()
    let own = try PersonsShell(home)
    try allow("n", in: own, exit: 5)
    #expect(!own.screen.transcript.contains("tok-near"))
    try allow("", in: own)
    own.type(quietly)
    try own.wait(exit: 6)
    try expect(home.tool("agent", "grants").text, equals: "no program may do anything without asking\n")
  }

  @Test("without an agent nothing is asked for a grant, and there are none")
  func noAgent() throws {
    let home = try Self.home()
    expect(0, try home.tool("agent", "stop"))
    let own = try PersonsShell(home)
    own.type("$T item get near")
    try own.screen.wait(for: "passcode: ")
    own.screen.type("1234\n")
    try own.wait(exit: 0)
    #expect(!own.screen.transcript.contains("allow it?"))
    for words in [["agent", "grants"], ["agent", "revoke", "--all"]] {
      expect(13, try home.tool.run(words), "no agent is running")
    }
    for words in [
      ["agent", "revoke"], ["agent", "revoke", "1", "--all"], ["agent", "revoke", "x"],
      ["agent", "revoke", "0"],
    ] {
      expect(2, try home.tool.run(words))
    }
  }

  @Test("a reason is in the prompt as what the command says, with the agent and without it")
  func reason() throws {
    let home = try Self.home()
    for word in ["required", "never"] {
      let own = try PersonsShell(home)
      own.type("$T item get near --agent \(word) --reason 'pay 12 EUR to Anna'")
      try own.screen.wait(for: "'near'")
      try own.screen.wait(for: "\r\n  says: pay 12 EUR to Anna\r\n")
      try own.screen.wait(for: "passcode: ")
      own.screen.type("\u{3}")
      try own.screen.wait(for: "> ")
    }
  }

  @Test(
    "a reason that a person could not read, or not on one line, is wrong usage",
    arguments: [
      "", String(repeating: "x", count: 201), String(repeating: "x", count: 4096), "a\nb", "a\u{1B}[2Jb",
      "a\u{202E}b",
      "a\u{200B}b", "a\u{2066}b", "a  b", " a", "a\u{A0}b",
    ])
  func badReason(text: String) throws {
    let home = try AgentHome()
    expect(2, try home.tool("get", "mail", "--reason", text, "--no-input"), "--reason")
  }

  @Test("a verb that asks nobody takes no reason, and each one that asks takes one")
  func verbs() {
    for verb in VerbTable.all {
      let asks = verb.facts.first { $0.name == "asks" }?.text != "nothing"
      expect(verb.options.contains { $0.name == "reason" }, equals: asks, "\(verb.name)")
    }
  }
}
