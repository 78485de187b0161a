import Foundation
import TestSupport
import Testing

@Suite("Access rules and members at the command line", .bounded)
struct AccessVerbTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    return tool
  }

  private func add(_ name: String, _ access: String, _ tool: Tool, _ more: String...) throws -> Tool.Run {
    let own = access.contains("application-password") ? ["--application-password-fd", "4"] : []
    return try tool.run(
      ["add", name, "--access", access, "--passcode-fd", "3"] + own + more,
      input: Array("secret of \(name)".utf8), secrets: [3: "pass", 4: "app"])
  }

  private func get(_ name: String, _ tool: Tool, _ secrets: [Int32: String]) throws -> Tool.Run {
    let options = [3: "--passcode-fd", 4: "--application-password-fd", 5: "--phrase-fd"]
    let words = secrets.keys.sorted().flatMap { [options[Int($0)]!, "\($0)"] }
    return try tool.run(["get", name] + words, secrets: secrets)
  }

  // The unlock and the rule share one prompt.
  @Test("a passcode item asks at each use; without anybody to ask it is exit 6 at once, naming the option")
  func passcode() throws {
    let tool = try newTool()
    try expect(add("a", "passcode", tool).exit, equals: 0)
    try expect(get("a", tool, [3: "pass"]).text, equals: "secret of a")
    try expect(get("a", tool, [3: "wrong"]).exit, equals: 3)
    for words in [["get", "a", "--no-input"], ["get", "a"]] {
      // A question would wait for ever, because there is no person.
      let run = try tool.run(words)
      #expect(run.exit == 6 && run.errors.contains("--passcode-fd") && run.output.isEmpty)
    }
    let lines = [["get", "a"], ["edit", "a", "--label", "l"], ["rm", "a"]].map {
      words in
      "{\"args\":[" + words.map { "\"\($0)\"" }.joined(separator: ",") + "]}"
    }
    let batch = try tool(
      "vault", "batch", "--passcode-fd", "3", input: Array(lines.joined(separator: "\n").utf8),
      secrets: [3: "pass"])
    expect(batch.exit, equals: 0, "\(batch.errors) \(batch.text)")
  }

  @Test("rules that contradict themselves or ask for what is not there are exit 9, and store nothing")
  func refused() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for access in ["or", "passcode,or", "passcode,or,and,biometry-any", "presence,passcode", "passcode"] {
      let run = try tool("add", "x", "--access", access, input: [1])
      expect(run.exit, equals: 9, "\(access): \(run.errors)")
    }
    try expect(tool("add", "x", "--access", "fingers", input: [1]).exit, equals: 2)
    #expect(try tool("ls").text.isEmpty)
    let withPasscode = try newTool()
    let run = try add("x", "biometry-any", withPasscode)
    #expect(run.exit == 9 && run.errors.contains("biometry enroll"))
  }

  @Test("an application password stands beside everything else")
  func applicationPassword() throws {
    let tool = try newTool()
    try expect(add("d", "passcode,application-password", tool).exit, equals: 0)
    try expect(get("d", tool, [3: "pass", 4: "app"]).text, equals: "secret of d")
    try expect(get("d", tool, [3: "pass", 4: "apq"]).exit, equals: 3)
    let missing = try get("d", tool, [3: "pass"])
    #expect(missing.exit == 6 && missing.errors.contains("--application-password-fd"))
    try expect(get("d", tool, [3: "pass", 4: ""]).exit, equals: 12)
    try expect(get("d", tool, [3: "pass", 4: String(repeating: "x", count: 70 << 10)]).exit, equals: 12)
  }

  @Test(
    "an application password that no rule asks for is refused: the item would be stored without it",
    arguments: [["add", "x"], ["key", "generate", "x"], ["card", "put", "x", "--ttl", "90s"]])
  func unaskedPassword(words: [String]) throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    let run = try tool.run(words + ["--application-password-fd", "4"], input: [1], secrets: [4: "app"])
    expect(2, run, "the item would not be behind this password")
    #expect(try tool("ls").text.isEmpty)
  }

  @Test("members are enrolled behind the passcode and leave without it; what dies with their set is said")
  func members() throws {
    let tool = try newTool()
    func enroll(_ name: String, _ phrase: String, _ passcode: String = "pass") throws -> Tool.Run {
      try tool(
        "biometry", "enroll", name, "--passcode-fd", "3", "--phrase-fd", "4",
        secrets: [3: passcode, 4: phrase])
    }
    try expect(enroll("voice", "my voice", "wrong").exit, equals: 3)
    try expect(enroll("voice", "my voice").exit, equals: 0)
    try expect(enroll("voice", "other").exit, equals: 8)
    try expect(enroll("again", "my voice").exit, equals: 8)
    try expect(add("set", "biometry-current-set", tool, "--accessible", "after-first-unlock").exit, equals: 0)
    try expect(add("any", "biometry-any", tool, "--accessible", "after-first-unlock").exit, equals: 0)
    for name in ["set", "any"] {
      try expect(get(name, tool, [5: "my voice"]).text, equals: "secret of \(name)")
      try expect(get(name, tool, [5: "your voice"]).exit, equals: 3)
      try expect(get(name, tool, [3: "pass"]).exit, equals: 6)
    }
    let shown = try tool("show", "set")
    #expect(shown.text.contains("biometry-current-set  enforced by key derivation"))
    let second = try enroll("face", "my face")
    #expect(second.exit == 0 && second.errors.contains("1 item will be opened by nobody any more"))
    try expect(get("set", tool, [5: "my voice"]).exit, equals: 1)
    try expect(get("any", tool, [5: "my face"]).exit, equals: 0)
    let json = try tool("show", "set", "--json").json
    #expect(json["access"] as? String == "biometry-current-set" && json["beyondReach"] as? Bool == true)
    #expect((json["enforcement"] as? [String: String])?["biometry-current-set"] == "keyDerivation")
    #expect(try tool("audit").text.contains("the enrolled set has changed"))
    try expect(tool("biometry", "remove", "voice", "--no-input").exit, equals: 0)
    try expect(tool("biometry", "remove", "voice").exit, equals: 1)
    let members = try #require(try tool("biometry", "list", "--json").json["items"] as? [[String: Any]])
    expect(members.map { $0["name"] as? String }, equals: ["face"])
    try expect(tool("vault", "check", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
  }

  @Test("five wrong phrases lock biometry for every process, until the passcode was right")
  func lockout() throws {
    let tool = try newTool()
    try expect(
      tool(
        "biometry", "enroll", "v", "--passcode-fd", "3", "--phrase-fd", "4", secrets: [3: "pass", 4: "right"]
      ).exit, equals: 0)
    try expect(add("any", "biometry-any", tool, "--accessible", "after-first-unlock").exit, equals: 0)
    for _ in 0..<5 { try expect(get("any", tool, [5: "wrong"]).exit, equals: 3) }
    let run = try get("any", tool, [5: "right"])
    #expect(run.exit == 4 && run.errors.contains("biometry is locked"))
    try expect(add("plain", "passcode", tool).exit, equals: 0)
    try expect(get("any", tool, [5: "right"]).exit, equals: 0)
  }

  @Test("codes of a constrained credential ask too, and its counter is changed by nobody else")
  func codes() throws {
    let tool = try newTool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try expect(
      tool(
        "otp", "add", "rfc", "--access", "presence", "--passcode-fd", "3", input: Array(uri.utf8),
        secrets: [3: "pass"]
      ).exit, equals: 0)
    try expect(tool("code", "rfc", "--no-input").exit, equals: 6)
    try expect(tool("otp", "counter", "rfc", "--set", "7", "--no-input").exit, equals: 6)
    try expect(tool("otp", "export", "rfc", "--no-input").exit, equals: 6)
    try expect(tool("code", "rfc", "--passcode-fd", "3", secrets: [3: "wrong"]).exit, equals: 3)
    try expect(
      tool("code", "rfc", "--passcode-fd", "3", secrets: [3: "pass"]).text, equals: "755224\n")
    #expect(try tool("otp", "show", "rfc").text.contains(/presence +enforced by key derivation/))
    try expect(
      tool("otp", "counter", "rfc", "--set", "7", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    try expect(
      tool("code", "rfc", "--passcode-fd", "3", secrets: [3: "pass"]).text, equals: "162583\n")
    try expect(tool("rm", "rfc", "--no-input").exit, equals: 6)
    try expect(tool("rm", "rfc", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
  }
}
