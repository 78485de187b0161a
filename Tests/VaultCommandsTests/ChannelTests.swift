import Foundation
import TestSupport
import Testing

@Suite("Channels are read once, and a person is asked for what is tried", .bounded, .serialized)
struct ChannelTests {
  private static let passcode = "correct horse"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool.run(["init", "--passcode-fd", "3"], secrets: [3: Self.passcode]).exit, equals: 0)
    let words = ["add", "bank", "--access", "passcode", "--passcode-fd", "3"]
    try expect(tool.run(words, input: [7], secrets: [3: Self.passcode]).exit, equals: 0)
    let app = ["--access", "application-password", "--application-password-fd", "4", "--passcode-fd", "3"]
    let added = try tool.run(
      ["add", "app"] + app, input: [8], secrets: [3: Self.passcode, 4: "app"])
    expect(added.exit, equals: 0)
    return tool
  }

  /// Verified to fail when `GivenSecrets` forgets failures, and the rest of the pipe opens the item of the next line.
  @Test(
    "what is malformed stays malformed: the rest of a channel never becomes the secret", .requirement("Q3"))
  func malformed() throws {
    let tool = try newTool()
    let long = String(repeating: " ", count: 1026)
    for (name, option, right) in [
      ("bank", "--passcode-fd", Self.passcode), ("app", "--application-password-fd", "app"),
    ] {
      for (given, what) in [(long + right, "too long"), (right + "\0", "NUL byte"), ("", "empty")] {
        var words = ["get", name, option, "5"]
        var secrets: [Int32: String] = [5: given]
        if name == "app" {
          words += ["--passcode-fd", "6"]
          secrets[6] = Self.passcode
        }
        let run = try tool.run(words, secrets: secrets)
        #expect(run.exit == 12 && run.output.isEmpty, "\(name): \(run.exit) \(run.errors)")
        #expect(run.errors.contains(what), "\(run.errors)")
      }
    }
    let line = #"{"args":["get","bank"]}"# + "\n"
    let batch = try tool.run(
      ["vault", "batch", "--keep-going", "--passcode-fd", "5"], input: Array((line + line).utf8),
      secrets: [5: long + Self.passcode])
    #expect(batch.exit == 12 && !batch.text.contains(#""result""#), "\(batch.text)")
  }

  /// Verified to fail when `refuseDelay` refuses nothing.
  @Test("during a delay nobody is asked for the passcode", .requirement("Q8"), arguments: ["bank", "plain"])
  func delay(name: String) throws {
    let tool = try newTool()
    try expect(
      tool("add", "plain", "--passcode-fd", "3", input: [9], secrets: [3: Self.passcode]).exit,
      equals: 0)
    for _ in 0..<5 {
      try expect(tool("get", "bank", "--passcode-fd", "3", secrets: [3: "wrong"]).exit, equals: 3)
    }
    for words in [["get", name], ["passcode", "change"], ["add", "new"]] {
      let screen = try PseudoTerminal()
      let running = try tool.start(words, on: screen)
      try screen.wait(for: "too many wrong passcodes", times: 1)
      try expect(running.wait(), equals: 4)
      #expect(!screen.transcript.contains("passcode: "))
    }
  }

  /// Verified to fail when the data is asked for first.
  @Test(
    "the passcode is asked for before the data, three times; nothing that was typed is lost",
    .requirement("U6"))
  func passcodeFirst() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["add", "typed"], on: screen)
    try screen.wait(for: "vaultctl add 'typed': unlock the vault\r\n")
    try screen.wait(for: "vault passcode: ")
    screen.type("wrong\n")
    try screen.wait(for: "wrong passcode\r\nvaultctl add 'typed': unlock the vault\r\n")
    try screen.wait(for: "  2 tries left; an empty answer cancels\r\nvault passcode: ")
    screen.type("wrong\n")
    try screen.wait(for: "passcode: ")
    screen.type(Self.passcode + "\n")
    for (question, answer) in [
      ("user (empty: typed): ", ""), ("address (empty: none): ", ""), ("generated): ", "new"),
      ("password again: ", "new"),
    ] {
      try screen.wait(for: question)
      screen.type(answer + "\n")
    }
    try expect(running.wait(), equals: 0)
    let read = try tool("get", "typed", "--passcode-fd", "3", secrets: [3: Self.passcode])
    expect(read.text, equals: "new")
  }

  @Test("three wrong passcodes end with 3, and the data is not asked for")
  func threeWrong() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["add", "typed"], on: screen)
    for round in 1...3 {
      try screen.wait(for: "passcode: ", times: round)
      screen.type("wrong\n")
    }
    try expect(running.wait(), equals: 3)
    #expect(!screen.drain().contains("secret: "))
  }
}
