import Foundation
import TestSupport
import Testing

@Suite("One style of prompt", .bounded, .requirement("Q15"), .serialized)
struct PromptStyleTests {
  private static let passcode = PromptTurnTests.passcode

  private func newTool() throws -> Tool {
    let tool = try PromptTurnTests.newTool()
    let words = ["add", "bank", "--access", "passcode", "--passcode-fd", "3"]
    try expect(tool.run(words, input: [7], secrets: [3: Self.passcode]).exit, equals: 0)
    return tool
  }

  /// Verified to fail when the old passcode is judged after the new one.
  @Test("passcode change judges the old passcode, three times at most, before it asks for a new one")
  func change() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["passcode", "change"], on: screen)
    for tries in ["", "2 tries left; ", "last try; "] {
      try screen.wait(for: "vaultctl passcode change: change the passcode\r\n  \(tries)an empty answer")
      try screen.wait(for: "vault passcode: ")
      screen.type("wrong\n")
    }
    try expect(running.wait(), equals: 3)
    #expect(!screen.drain().contains("new vault passcode"))
    let second = try tool.start(["passcode", "change"], on: screen)
    try screen.wait(for: "vault passcode: ")
    screen.type(Self.passcode + "\n")
    for question in ["new vault passcode: ", "new vault passcode again: "] {
      try screen.wait(for: question)
      screen.type("another\n")
    }
    try expect(second.wait(), equals: 0)
    try expect(
      tool("get", "a", "--passcode-fd", "3", secrets: [3: "another"]).text, equals: "secret-a")
  }

  /// Verified to fail when the code, or the passphrase, is asked for first.
  @Test("the passcode is judged before a code and the passphrase of a file are asked for")
  func passcodeFirst() throws {
    let tool = try newTool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(
      0,
      try tool.run(
        ["otp", "add", "door", "--role", "verifier", "--passcode-fd", "3"], input: Array(uri.utf8),
        secrets: [3: Self.passcode]))
    let file = Tool.repository.path + "/Tests/Vectors/key-files/p256.chain.p12"
    for (line, question, answer) in [
      ("otp verify door", "\ncode: ", "755224"),
      ("key import tls <'\(file)'", "\npassphrase of the file: ", "correct horse"),
    ] {
      let screen = try PseudoTerminal()
      let running = try tool.start(shell: "/bin/sh", ["-c", "\"$T\" \(line); echo end=$?."], on: screen)
      try screen.wait(for: "vault passcode: ")
      #expect(!screen.transcript.contains(question))
      screen.type(Self.passcode + "\n")
      try screen.wait(for: question)
      screen.type(answer + "\n")
      try screen.wait(for: "end=0.")
      try expect(running.wait(), equals: 0)
    }
  }

  /// Verified to fail when what was typed before is not handed on.
  @Test(
    "edit --password asks for the passcode once, and an item of the passcode class still asks at its next use"
  )
  func update() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let line = "\"$T\" edit bank --password; echo end=$?."
    let running = try tool.start(shell: "/bin/sh", ["-c", line], on: screen)
    for (question, answer) in [
      ("vault passcode: ", Self.passcode), ("secret: ", "new"), ("secret again: ", "new"),
    ] {
      try screen.wait(for: question)
      screen.type(answer + "\n")
    }
    try screen.wait(for: "end=0.")
    try expect(running.wait(), equals: 0)
    expect(screen.transcript.components(separatedBy: "vault passcode: ").count, equals: 2)
    try expect(tool("get", "bank", "--no-input").exit, equals: 6)
    let read = try tool("get", "bank", "--passcode-fd", "3", secrets: [3: Self.passcode])
    expect(read.text, equals: "new")
  }

  /// Verified to fail when an empty answer is malformed at one of the prompts.
  @Test("an empty answer cancels wherever a prompt says so", arguments: ["a", "bank"])
  func empty(name: String) throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["get", name], on: screen)
    try screen.wait(for: "  an empty answer cancels\r\nvault passcode: ")
    screen.type("\n")
    try expect(running.wait(), equals: 5)
  }

  @Test(
    "biometry enroll judges name and passcode before it asks for a phrase, and says whose phrase it asks for")
  func enroll() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    try expect(tool("biometry", "enroll", "login", "--no-input").exit, equals: 9)
    let running = try tool.start(["biometry", "enroll", "right hand"], on: screen)
    try screen.wait(for: "vault passcode: ")
    screen.type(Self.passcode + "\n")
    for question in ["biometric phrase: ", "biometric phrase again: "] {
      try screen.wait(for: question)
      screen.type("my voice\n")
    }
    try expect(running.wait(), equals: 0)
    let rule = ["--access", "biometry-any", "--accessible", "after-first-unlock"]
    let added = try tool.run(
      ["add", "v", "--passcode-fd", "3"] + rule, input: [9], secrets: [3: Self.passcode])
    expect(added.exit, equals: 0, "\(added.errors)")
    let reading = try tool.start(["get", "v"], on: screen)
    try screen.wait(for: "vaultctl get: read the secret: 'v'\r\n")
    try screen.wait(for: "phrase of right hand: ")
    screen.type("my voice\n")
    try expect(reading.wait(), equals: 0)
  }

  @Test(
    "a new name that does not show as what it is: exit 12 before anything is typed; what is stored is shown escaped",
    arguments: ["a\u{3164}b", "a\u{A0}b", "a\u{34F}b", "a\u{2800}b", "a\u{E000}b", "a  b", " a"])
  func names(name: String) throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "n", "--label", name, input: [1]).exit, equals: 0)
    for words in [
      ["add", name], ["add", "m", "--service", name], ["mv", "n", name],
      ["edit", "n", "--account", name], ["otp", "add", name], ["biometry", "enroll", name],
    ] {
      let run = try tool.run(words)
      expect(run.exit, equals: 12, "\(words.prefix(2)): \(run.exit) \(run.errors)")
      #expect(run.errors.utf8.allSatisfy { $0 < 0x80 }, "\(run.errors)")
    }
    let line = "{\"kind\":\"password\",\"name\":\"\(name)\",\"secret\":\"x\"}\n"
    try expect(tool("import", "jsonl", input: Array(line.utf8)).exit, equals: 12)
    // A name may be looked for that an earlier version stored.
    try expect(tool("get", name).exit, equals: 1)
    let shown = try tool("show", "n").text
    #expect(shown.utf8.allSatisfy { $0 < 0x80 }, "\(shown)")
  }
}
