import Foundation
import TestSupport
import Testing
import VaultExpectations

/// `vaultctl vault clock`, and what the other verbs say of clocks.
///
/// Verified to fail on commit ebe6282a, where fifty commands with a wrong clock deleted an item; when `add` does not look at the
/// recorded time; when a list has no mark; when `--reset` needs no passcode; and when the clock of the warning is not compared.
@Suite("The clock and the recorded time", .bounded, .requirement("Q6"))
struct ClockVerbTests {
  private static let day = 86_400

  private func setClock(_ tool: Tool, days: Int = 0, boot: Int = 0) {
    tool.environment["VAULTCTL_TESTING_CLOCK"] = String(tool.now + days * Self.day)
    tool.environment["VAULTCTL_TESTING_BOOT"] = String(1000 + boot * Self.day)
  }

  /// A vault whose recorded time is 101 days ahead: a wrong clock agreed with itself after two days.
  private func makeAhead(_ tool: Tool, _ passcode: [String] = ["--no-passcode"]) throws {
    try expect(tool.run(["init"] + passcode).exit, equals: 0)
    let unlocking = passcode.contains("--no-passcode") ? [] : passcode
    for (name, days, boot) in [("one", 100, 0), ("two", 102, 2)] {
      setClock(tool, days: days, boot: boot)
      try expect(tool.run(["add", name] + unlocking, input: [1]).exit, equals: 0)
    }
    setClock(tool, boot: 2)
  }

  @Test("a clock that is wrong for fifty commands deletes nothing, and new items are alive")
  func creep() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "a", "--expires", "40d", "--expiry", "refuse", input: [1]).exit, equals: 0)
    setClock(tool, days: 45)
    let uri = "otpauth://hotp/h?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try expect(tool("otp", "add", "h", input: Array(uri.utf8)).exit, equals: 0)
    for _ in 0..<50 { try expect(tool("code", "h").exit, equals: 0) }
    try expect(tool("get", "a").exit, equals: 7)
    setClock(tool)
    try expect(tool("get", "a").exit, equals: 0)
    try expect(tool("add", "n", "--expires", "7d", input: [1]).exit, equals: 0)
    try expect(tool("get", "n").exit, equals: 0)
  }

  @Test("lists mark what has expired, in text and JSON, and nothing else")
  func marks() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "a", "--expires", "1h", input: [1]).exit, equals: 0)
    try expect(tool("add", "b", input: [1]).exit, equals: 0)
    #expect(
      try !tool("ls").text.contains("expired")
        && !tool("show", "a").text.contains("expired"))
    tool.advance(by: 3600)
    let lines = try tool("ls").text.split(separator: "\n")
    expect(lines.map { $0.hasSuffix("expired") }, equals: [true, false])
    let items = try #require(try tool("ls", "--json").json["items"] as? [[String: Any]])
    expect(items.map { $0["expired"] as? Bool }, equals: [true, nil])
    #expect(try tool("show", "a", "--json").json["expired"] as? Bool == true)
    #expect(try tool("show", "a").text.contains("expired"))
    #expect(try tool("show", "b", "--json").json["expired"] == nil)
  }

  /// Verified to fail on commit c41b4145, where what a person is warned of is in no JSON.
  @Test("what the text warns of is in JSON too, in a result, an error and a batch, once")
  func warnings() throws {
    let tool = try Tool()
    try makeAhead(tool)
    let words = "the clock is behind the recorded time"
    func told(_ object: [String: Any]) -> Int {
      (object["warnings"] as? [String] ?? []).count { $0.hasPrefix(words) }
    }
    for verb in [["vault", "check"], ["ls"], ["show", "one"], ["status"], ["card", "list"]] {
      #expect(try tool.run(verb).errors.contains("vaultctl: \(words)"))
      let run = try tool.run(verb + ["--json"])
      #expect(try run.errors.isEmpty && told(run.json) == 1, "\(verb): \(run.text)")
    }
    let refused = try tool("show", "none", "--json")
    let line = try #require(
      try JSONSerialization.jsonObject(with: Data(refused.errors.utf8)) as? [String: Any])
    #expect(refused.exit == 1 && told(line) == 1, "\(refused.errors)")
    let input = #"{"args":["ls"]}"# + "\n" + #"{"args":["status"]}"#
    let lines = try tool("vault", "batch", "--json", input: Array(input.utf8)).text.split(separator: "\n")
    let results = try lines.map { line in
      let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(answer?["result"] as? [String: Any])
    }
    expect(results.map(told), equals: [1, 0])
  }

  @Test("it shows both times, and says what follows")
  func show() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    #expect(try tool("vault", "clock").text.hasSuffix("the recorded time and the clock agree\n"))
    setClock(tool, days: 30)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    #expect(try tool("vault", "clock").text.contains("the clock is ahead by 30 d"))
    let json = try tool("vault", "clock", "--json").json
    expect(json["lead"] as? Int, equals: 30 * Self.day)
    expect(json["candidate"] as? Int, equals: tool.now + 30 * Self.day)
    #expect(json["recorded"] as? Int == tool.now && json["clock"] as? Int == tool.now + 30 * Self.day)
  }

  @Test("an item that would have expired at once is refused, doctor says why, and --reset ends it")
  func reset() throws {
    let tool = try Tool()
    try makeAhead(tool)
    for words in [["add", "n"], ["edit", "one"]] {
      let run = try tool.run(words + ["--expires", "7d"], input: [1])
      #expect(run.exit == 7 && run.errors.contains("--reset"), "\(run.errors)")
    }
    try expect(tool("get", "n").exit, equals: 1)
    #expect(try tool("vault", "doctor").text.contains("recorded time"))
    #expect(try tool("vault", "clock").text.contains("the recorded time is ahead by 101 d"))
    let first = try tool("vault", "clock", "--reset", "--json")
    #expect(try first.exit == 0 && first.json["setBackFrom"] as? Int == tool.now + 101 * Self.day)
    try expect(first.json["lead"] as? Int, equals: 0)
    #expect(try tool("vault", "clock", "--reset", "--json").json["setBackFrom"] == nil)
    try expect(tool("add", "n", "--expires", "7d", input: [1]).exit, equals: 0)
    try expect(tool("get", "n").exit, equals: 0)
    expect(try tool("audit").text.components(separatedBy: "clockReset").count, equals: 2)
    #expect(try !tool("vault", "doctor").text.contains("recorded time"))
  }

  @Test("with a passcode, --reset asks for it and showing does not")
  func passcode() throws {
    let tool = try Tool()
    let given = ["--passcode-file", try tool.file("pass", "correct horse")]
    try makeAhead(tool, given)
    try expect(tool("vault", "clock", "--no-input").exit, equals: 0)
    try expect(tool("vault", "clock", "--reset", "--no-input").exit, equals: 6)
    #expect(try tool("vault", "clock", "--json").json["lead"] as? Int == -101 * Self.day)
    try expect(tool.run(["vault", "clock", "--reset"] + given).exit, equals: 0)
  }

  @Test("a clock before the time of the program is one line on standard error, once, and is not believed")
  func impossible() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1000000000"
    func warnings(_ run: Tool.Run) -> Int {
      run.errors.components(separatedBy: "before this program was made").count - 1
    }
    try expect(warnings(tool("ls")), equals: 1)
    let commands = "{\"args\":[\"status\"]}\n{\"args\":[\"ls\"]}\n"
    try expect(warnings(tool("vault", "batch", input: Array(commands.utf8))), equals: 1)
    try expect(warnings(tool("vault", "version")), equals: 0)
    let reset = try tool("vault", "clock", "--reset")
    #expect(reset.exit == 9 && warnings(reset) == 1)
  }
}
