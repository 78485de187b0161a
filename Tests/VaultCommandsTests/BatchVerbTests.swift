import Foundation
import CommandLineKit
import TestSupport
import Testing
import VaultCommands

@Suite("Batches at the command line", .bounded)
struct BatchVerbTests {
  private func answers(_ run: Tool.Run) throws -> [[String: Any]] {
    try run.text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  private func lines(_ lines: String...) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }

  @Test("several commands, one unlock: one derivation, one answer a line, data byte for byte")
  func oneUnlock() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_DERIVATIONS"] = tool.home.path + "/derivations"
    let run = try tool(
      "vault", "batch", "--passcode-fd", "3",
      input: lines(
        #"{"args":["add","a"],"stdin":"text\n\u00e9"}"#,
        #"{"args":["add","b"],"stdinBase64":"AP8K"}"#, "",
        #"{"args":["get","a"]}"#, #"{"args":["get","b"]}"#,
        #"{"args":["otp","add","h"],"stdin":"otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0\n"}"#,
        #"{"args":["code","h","--json"]}"#),
      secrets: [3: "p"])
    #expect(run.exit == 0 && run.errors.isEmpty)
    let found = try answers(run)
    expect(found.map { $0["exit"] as? Int }, equals: [0, 0, 0, 0, 0, 0])
    try #require(found.count == 6)
    let results = found.map { $0["result"] as? [String: Any] }
    expect(results[2]?["secret"] as? String, equals: "text\né")
    #expect(results[3]?["secretBase64"] as? String == "AP8K" && results[3]?["secret"] == nil)
    expect(results[5]?["code"] as? String, equals: "755224")
    try expect(Data(contentsOf: tool.home.appendingPathComponent("derivations")).count, equals: 1)
  }

  @Test("the first failure ends a batch with its exit code; --keep-going goes on and still ends with it")
  func failures() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let input = lines(
      #"{"args":["status"]}"#, #"{"args":["get","nobody"]}"#,
      #"{"args":["add","a"],"stdin":"x","junk":1}"#,
      #"{"args":["vault","path"]}"#)
    let stopped = try tool("vault", "batch", input: input)
    expect(stopped.exit, equals: 1)
    try expect(answers(stopped).map { $0["exit"] as? Int }, equals: [0, 1])
    let error = try answers(stopped).last?["error"] as? [String: Any]
    #expect(error?["code"] as? String == "itemNotFound" && error?["hint"] != nil)
    let whole = try tool("vault", "batch", "--keep-going", input: input)
    expect(whole.exit, equals: 1)
    try expect(answers(whole).map { $0["exit"] as? Int }, equals: [0, 1, 12, 0])
  }

  /// Verified to fail when a batch with `--keep-going` tries it for each line.
  @Test(
    "a wrong passcode is tried once, not once a line",
    arguments: [#"{"args":["add","b","--generate","8"]}"#, #"{"args":["get","a"]}"#])
  func wrongPasscode(line: String) throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    let words = ["add", "a", "--access", "passcode", "--passcode-fd", "3"]
    try expect(tool.run(words, input: [1], secrets: [3: "p"]).exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_DERIVATIONS"] = tool.home.path + "/derivations"
    let run = try tool(
      "vault", "batch", "--keep-going", "--passcode-fd", "3", input: lines(line, line, line),
      secrets: [3: "wrong"])
    expect(run.exit, equals: 3)
    try expect(answers(run).map { $0["exit"] as? Int }, equals: [3])
    try expect(Data(contentsOf: tool.home.appendingPathComponent("derivations")).count, equals: 1)
  }

  @Test(
    "what belongs to the whole batch, and what asks or never ends, is refused in a line",
    arguments: [
      #"{"args":["vault", "batch"]}"#, #"{"args":["init","--no-passcode"]}"#,
      #"{"args":["passcode","remove"]}"#,
      #"{"args":["status","--vault","/x"]}"#, #"{"args":["get","a","--passcode-fd","3"]}"#,
      #"{"args":["get","a","--prompt","none"]}"#, #"{"args":["audit","--follow"]}"#,
      #"{"args":["--help"]}"#,
      #"{"args":[]}"#, #"{"args":["otp","add","otpauth://totp/x?secret=CANARY"]}"#,
    ])
  func refused(line: String) throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let run = try tool("vault", "batch", input: lines(line))
    expect(run.exit, equals: 2, "\(run.text)")
    #expect(!run.text.contains("CANARY") && !run.errors.contains("CANARY"))
  }

  /// Verified to fail when a batch has the channels of the passcode and the recovery code alone.
  @Test("each secret that a line may not give is given on the line of the batch")
  func channels() throws {
    let batch = try #require(VerbTable.verb(["vault", "batch"]))
    let options = Set(batch.secretOptions.flatMap(\.options).map(\.option.name))
    for verb in VerbTable.all where verb.allowedInBatch {
      let missing = verb.secretOptions.flatMap(\.options).map(\.option.name).filter { !options.contains($0) }
      #expect(missing.isEmpty, "\(verb.name): \(missing)")
    }
  }

  /// Verified to fail when a batch has no channel for a session.
  @Test("a session of the batch serves all lines that need one, and none without it")
  func session() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let session = try tool.file("session", tool("card", "session", "open").text)
    let input = lines(
      #"{"args":["card", "put","card","--ttl","90s","--uses","2"],"stdin":"tok-1"}"#,
      #"{"args":["card", "get","card"]}"#, #"{"args":["ls"]}"#, #"{"args":["card", "get","card"]}"#)
    let run = try tool("vault", "batch", "--session-file", session, input: input)
    try expect(answers(run).map { $0["exit"] as? Int }, equals: [0, 0, 0, 0], "\(run.text)")
    let next = lines(
      #"{"args":["card", "put","other","--ttl","90s"],"stdin":"tok-2"}"#,
      #"{"args":["card", "get","other","--session-file","\#(session)"]}"#)
    let inLine = try tool(
      "vault", "batch", "--session-fd", "3", input: next, secrets: [3: tool("card", "session", "open").text])
    expect(inLine.exit, equals: 2)
    #expect(inLine.text.contains("--session-file stands on the line of 'vaultctl vault batch'"))
    try expect(tool("card", "get", "other").exit, equals: 6)
  }

  /// Verified to fail when a batch has no channel for a PIN.
  @Test("a PIN of the batch serves all lines, and a wrong one is counted once")
  func pin() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    let words = ["otp", "add", "bank", "--pin-mode", "checked", "--pin-fd", "3"]
    try expect(tool.run(words, input: Array(uri.utf8), secrets: [3: "8306"]).exit, equals: 0)
    let code = #"{"args":["code","bank"]}"#
    let input = lines(code, code, code)
    let right = try tool("vault", "batch", "--pin-fd", "3", input: input, secrets: [3: "8306"])
    try expect(answers(right).map { $0["exit"] as? Int }, equals: [0, 0, 0])
    let wrong = try tool(
      "vault", "batch", "--keep-going", "--pin-fd", "3", input: input, secrets: [3: "2749"])
    expect(wrong.exit, equals: 3)
    try expect(answers(wrong).count, equals: 1)
    try expect(tool("pin", "status", "pin", "--json").json["attemptsLeft"] as? Int, equals: 9)
  }

  /// Verified to fail when a line looks for `--no-input` among its own options.
  @Test("a batch that may not ask asks for no line")
  func noInput() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let file = try Data(
      contentsOf: Tool.repository.appendingPathComponent("Tests/Vectors/key-files/p256.chain.p12"))
    let line = #"{"args":["key","import","tls"],"stdinBase64":"\#(file.base64EncodedString())"}"#
    let asked = try tool("vault", "batch", "--no-input", input: lines(line))
    #expect(asked.exit == 6 && asked.text.contains("asking is switched off"), "\(asked.text)")
    let given = try tool(
      "vault", "batch", "--passphrase-fd", "3", input: lines(line), secrets: [3: "correct horse"])
    expect(given.exit, equals: 0, "\(given.text)")
  }

  @Test("data for a command that takes none, or none for one that needs it, is malformed")
  func data() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    #expect(try tool("vault", "batch", input: lines(#"{"args":["status"],"stdin":"x"}"#)).exit == 12)
    #expect(try tool("vault", "batch", input: lines(#"{"args":["add","a"]}"#)).exit == 12)
    try expect(tool("vault", "batch", input: []).exit, equals: 0)
  }
}
