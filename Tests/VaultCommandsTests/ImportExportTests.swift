import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

/// Verified to fail when each line has its own transaction, when the file of the export is made with mode 0644 or over
/// another file, when the audit entry is left out, and when a dry run commits.
@Suite("Import and export of JSON lines", .bounded)
struct ImportExportTests {
  private func newTool(_ passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    let words = passcode == nil ? ["--no-passcode"] : ["--passcode-fd", "3"]
    try expect(tool.run(["init"] + words, secrets: [3: passcode ?? ""]).exit, equals: 0)
    return tool
  }

  private func names(_ tool: Tool) throws -> [String] {
    try tool("ls", "--format", "name").text.split(separator: "\n").map(String.init)
  }

  private static let uri =
    "otpauth://hotp/Bank:me?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=7&digits=8&issuer=Bank"

  @Test("what goes out comes in again in another vault: secrets, attributes, policies, counters")
  func roundTrip() throws {
    let tool = try newTool()
    let binary: [UInt8] = [0, 255, 10, 13, 34, 92]
    try expect(
      tool(
        "add", "mail", "--service", "https://x", "--account", "me", "--label", "a \"b\" \\ ü😀",
        "--comment", "c",
        "--expires", "30d", "--audit", "all", input: Array("zeile\n\"\u{1F600}\u{7}".utf8)
      ).exit, equals: 0)
    try expect(
      tool("add", "binary", "--accessible", "after-first-unlock", input: binary).exit, equals: 0)
    try expect(tool("otp", "add", "bank", input: Array(Self.uri.utf8)).exit, equals: 0)
    try expect(tool("otp", "add", "door", "--role", "verifier", input: Array(Self.uri.utf8)).exit, equals: 0)
    let file = tool.home.path + "/items.jsonl"
    let run = try tool("export", "jsonl", file, "--plain", "--json")
    #expect(try run.exit == 0 && run.json["items"] as? Int == 4, "\(run.errors)")
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    expect(mode, equals: 0o600)

    let other = try newTool()
    let taken = try other("import", "jsonl", file, "--json")
    #expect(try taken.exit == 0 && taken.json["added"] as? Int == 4, "\(taken.errors)")
    try expect(names(other), equals: ["bank", "binary", "door", "mail"])
    try expect(other("get", "mail").output, equals: tool("get", "mail").output)
    try expect(other("get", "binary").output, equals: binary)
    for name in try names(tool) {
      func facts(_ tool: Tool) throws -> [String: String] {
        let verb = ["bank", "door"].contains(name) ? "otp" : "item"
        return try tool(verb, "show", name, "--json").json.filter {
          !["id", "created", "modified"].contains($0.key)
        }
        .mapValues { "\($0)" }
      }
      try expect(facts(other), equals: facts(tool), "\(name)")
    }
    try expect(other("code", "bank").text, equals: tool("code", "bank").text)
    try expect(other("vault", "check").exit, equals: 0)
    let again = try tool("export", "jsonl", "--plain").text.split(separator: "\n").count
    expect(again, equals: 4)
  }

  @Test("nothing goes out without --plain, over a file, into a file for others, or before it is audited")
  func exportRefusals() throws {
    let tool = try newTool()
    try expect(tool("add", "mail", input: Array("correct".utf8)).exit, equals: 0)
    let refused = try tool("export", "jsonl")
    #expect(refused.exit == 9 && refused.output.isEmpty && refused.errors.contains("--plain"))
    let file = try tool.file("there", "precious")
    try expect(tool("export", "jsonl", file, "--plain").exit, equals: 8)
    try expect(String(contentsOfFile: file, encoding: .utf8), equals: "precious")
    try expect(tool("export", "jsonl", "--plain", "--json").exit, equals: 2)
    try expect(tool("export", "csv", "--plain").exit, equals: 2)
    let open = tool.home.path + "/open"
    try Data().write(to: URL(fileURLWithPath: open))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
    var child = Child(Tool.path, ["export", "jsonl", "--plain"], tool.environment)
    child.open(1, open, flags: O_WRONLY)
    child.create(2, tool.home.path + "/errors")
    try expect(child.start().wait(), equals: 9)
    #expect(try Data(contentsOf: URL(fileURLWithPath: open)).isEmpty)
    func exports() throws -> Int {
      try tool("audit").text.split(separator: "\n").count { $0.contains("exported") && $0.contains("mail") }
    }
    try expect(exports(), equals: 0)
    #expect(try tool("export", "jsonl", "--plain").text.contains("correct"))
    try expect(exports(), equals: 1)
  }

  @Test("an export that ends before its secrets are written leaves its entries in the audit")
  func endedExport() throws {
    let tool = try newTool()
    try expect(tool("add", "mail", input: [65]).exit, equals: 0)
    var child = Child(Tool.path, ["export", "jsonl", "--plain"], tool.environment)
    child.open(1, "/dev/full", flags: O_WRONLY)
    child.create(2, tool.home.path + "/errors")
    try expect(child.start().wait(), equals: 13)
    let lines = try tool("audit").text.split(separator: "\n")
    expect(lines.count { $0.contains("exported") && $0.contains("mail") }, equals: 1)
  }

  @Test("what cannot leave is listed with its reason, and the rest goes")
  func leftOut() throws {
    let tool = try newTool()
    try expect(tool("add", "here", "--this-device-only", input: [65]).exit, equals: 0)
    try expect(
      tool("add", "old", "--expires", "10s", "--expiry", "refuse", input: [65]).exit, equals: 0)
    try expect(tool("add", "mail", "--expires", "10s", input: [65]).exit, equals: 0)
    tool.advance(by: 100)
    let run = try tool("export", "jsonl", tool.home.path + "/out", "--plain", "--json")
    let left = try #require(try run.json["leftOut"] as? [[String: Any]])
    expect(left.map { $0["name"] as? String }, equals: ["here", "old"])
    expect(left.map { $0["reason"] as? String }, equals: ["thisDeviceOnly", "expired"])
    try expect(
      String(contentsOfFile: tool.home.path + "/out", encoding: .utf8).split(separator: "\n").count, equals: 1
    )
    // Whoever deletes the vault then must not lose what is left out.
    #expect(run.exit == 7 && run.errors.contains("expired items are left out: 1"), "\(run.errors)")
    let plain = try tool("export", "jsonl", "--plain")
    #expect(plain.exit == 7 && plain.errors.contains("left out 'here' (thisDeviceOnly)"))
    try expect(tool("edit", "old", "--no-expiry").exit, equals: 0)
    try expect(tool("export", "jsonl", "--plain").exit, equals: 0)
  }

  /// A vault with a passcode, with items that ask for it at each use, and others that ask for a password of their own.
  private func newGuardedTool() throws -> Tool {
    let tool = try newTool("p")
    func add(_ name: String, _ access: [String]) throws {
      let run = try tool.run(
        ["add", name, "--passcode-fd", "3"] + access,
        input: Array("s-\(name)".utf8), secrets: [3: "p", 4: "own"])
      expect(run.exit, equals: 0, "\(run.errors)")
    }
    try add("mail", [])
    for name in ["bank", "door"] { try add(name, ["--access", "passcode"]) }
    for name in ["app", "app2"] {
      try add(name, ["--access", "application-password", "--application-password-fd", "4"])
    }
    return tool
  }

  private func leftOut(_ run: Tool.Run) throws -> [String: String] {
    let left = try #require(try run.json["leftOut"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: left.map { ($0["name"] as? String ?? "", $0["reason"] as? String ?? "") })
  }

  @Test(
    "items with an access rule go out with what it asks for, and without it stay, listed and counted; they come in again with their rule"
  )
  func guarded() throws {
    let tool = try newGuardedTool()
    let words = ["export", "jsonl", "--plain", "--no-input", "--passcode-fd", "3", "--json"]
    let some = try tool.run(words + [tool.home.path + "/some"], secrets: [3: "p"])
    #expect(try some.exit == 0 && some.json["items"] as? Int == 3, "\(some.errors)")
    try expect(leftOut(some), equals: ["app": "promptNeeded", "app2": "promptNeeded"])
    let told = try tool.run(
      ["export", "jsonl", "--plain", "--no-input", "--passcode-fd", "3"], secrets: [3: "p"])
    #expect(told.exit == 0 && told.text.split(separator: "\n").count == 3)
    #expect(told.errors.contains("left out 'app2' (promptNeeded)"), "\(told.errors)")
    #expect(told.errors.contains("2 items were left out") && told.errors.contains("may ask"))
    let all = try tool.run(
      words + [tool.home.path + "/all", "--application-password-fd", "4"], secrets: [3: "p", 4: "own"])
    #expect(try all.exit == 0 && all.json["items"] as? Int == 5 && leftOut(all) == [:], "\(all.errors)")
    let wrong = try tool.run(
      words + [tool.home.path + "/none", "--application-password-fd", "4"], secrets: [3: "p", 4: "other"])
    #expect(wrong.exit == 3 && !FileManager.default.fileExists(atPath: tool.home.path + "/none"))
    // Each is logged before it leaves: 3 and 3 and 5, and 3 of the export that a wrong password ended.
    let exported = try tool("audit", "--json").json["items"] as? [[String: Any]]
    expect(exported?.count { $0["operation"] as? String == "exported" }, equals: 14)

    let other = try newTool("q")
    let taken = try other.run(
      ["import", "jsonl", tool.home.path + "/some", "--passcode-fd", "3"], secrets: [3: "q"])
    expect(taken.exit, equals: 0, "\(taken.errors)")
    for name in ["bank", "door"] {
      try expect(other("show", name, "--json").json["access"] as? String, equals: "passcode")
      try expect(other("get", name, "--no-input").exit, equals: 6)
      try expect(
        other.run(["get", name, "--passcode-fd", "3"], secrets: [3: "q"]).text, equals: "s-\(name)")
    }
    let refused = try other.run(
      ["import", "jsonl", tool.home.path + "/all", "--on-duplicate", "skip", "--passcode-fd", "3"],
      secrets: [3: "q"])
    #expect(refused.exit == 12 && refused.errors.contains("add"), "\(refused.errors)")
    // Without a passcode nobody could open them.
    let bare = try newTool()
    try expect(bare("import", "jsonl", tool.home.path + "/some").exit, equals: 9)
    try expect(names(bare), equals: [])
  }

  @Test("who an access rule asks for is asked once, and whoever declines is not asked for the next item")
  func askedOnce() throws {
    let tool = try newGuardedTool()
    func export(_ file: String) throws -> (screen: PseudoTerminal, running: Child.Running) {
      let screen = try PseudoTerminal()
      let words = ["export", "jsonl", tool.home.path + "/" + file, "--plain"]
      return (screen, try tool.start(words, on: screen))
    }
    let (screen, running) = try export("first")
    try screen.wait(for: "passcode: ")
    screen.type("p\n")
    // The passcode serves for both items that ask for it: what comes next is another secret.
    try screen.wait(for: "application password")
    #expect(!screen.seen.contains("passcode"))
    try screen.wait(for: ": ")
    screen.type("\u{3}")
    try expect(running.wait(), equals: 0)
    expect(screen.drain().components(separatedBy: "(declined)").count, equals: 3)
    try expect(
      String(contentsOfFile: tool.home.path + "/first", encoding: .utf8).split(separator: "\n").count,
      equals: 3)
    let (second, declining) = try export("second")
    try second.wait(for: "passcode: ")
    second.type("\u{3}")
    try expect(declining.wait(), equals: 5)
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/second"))
  }

  @Test("an export that cannot be written leaves no file, one that cannot be unlocked neither")
  func noHalves() throws {
    let tool = try newTool("p")
    try expect(
      tool.run(["add", "mail", "--passcode-fd", "3"], input: [65], secrets: [3: "p"]).exit, equals: 0)
    let file = tool.home.path + "/out"
    try expect(tool("export", "jsonl", file, "--plain", "--no-input").exit, equals: 6)
    try expect(
      tool.run(["export", "jsonl", file, "--plain", "--passcode-fd", "3"], secrets: [3: "wrong"]).exit,
      equals: 3)
    #expect(!FileManager.default.fileExists(atPath: file))
    try expect(tool("export", "jsonl", "/nonexistent/x", "--plain").exit, equals: 13)
    var full = Child(Tool.path, ["export", "jsonl", "--plain", "--passcode-fd", "3"], tool.environment)
    full.open(3, try tool.file("p", "p"))
    full.open(1, "/dev/full", flags: O_WRONLY)
    full.create(2, tool.home.path + "/errors")
    try expect(full.start().wait(), equals: 13)
  }

  @Test("one bad line, and nothing is imported: the number and the reason are said", arguments: badLines)
  func badLine(line: String, why: String) throws {
    let tool = try newTool()
    let good = #"{"kind":"password","name":"good","secret":"x"}"#
    let run = try tool("import", "jsonl", "--json", input: Array("\(good)\n\n\(line)\n".utf8))
    expect(run.exit, equals: 12, "\(run.errors)")
    let message = try #require(try run.error["message"] as? String)
    #expect(message.hasPrefix("line 3: ") && message.contains(why), "\(message)")
    #expect(!run.errors.contains("canary"))
    try expect(names(tool), equals: [])
  }

  static let badLines: [(String, String)] = [
    ("{", "cannot be read"), ("[]", "'{' is missing"), ("canary", "'{' is missing"),
    (#"{"kind":"password","name":"a","secret":"canary""#, "'}' is missing"),
    (#"{"kind":"password","name":"a","secret":"canary"} canary"#, "after the object"),
    (#"{"kind":"password","name":"a","secret":"canary","secret":"x"}"#, "twice"),
    (#"{"kind":"password","name":"a","secret":"canary","other":"canary"}"#, "\"other\" is unknown"),
    (#"{"kind":"password","name":"a"}"#, "needs"),
    (#"{"kind":"password","secret":"canary"}"#, "\"name\" is missing"),
    (#"{"kind":"password","name":"a","secret":""}"#, "empty"),
    (#"{"kind":"pin","name":"a","secret":"1"}"#, "kind"),
    (#"{"kind":"password","name":"a\nb","secret":"canary"}"#, "control character"),
    (#"{"kind":"password","name":"a","secret":"canary","secretBase64":"eA=="}"#, "needs"),
    (#"{"kind":"password","name":"a","secretBase64":"x"}"#, "cannot be read"),
    (#"{"kind":"password","name":"a","secret":"canary","expires":"1"}"#, "seconds since 1970, or a date"),
    (
      #"{"kind":"password","name":"a","secret":"canary","expires":"canary"}"#, "seconds since 1970, or a date"
    ),
    (
      #"{"kind":"password","name":"a","secret":"canary","expires":"2027-02-29"}"#, "of 28 days, does not have"
    ),
    (#"{"kind":"password","name":"a","secret":"canary","expires":"90d"}"#, "or a date like"),
    (#"{"kind":"password","name":"a","secret":"canary","expires":01}"#, "number"),
    (#"{"kind":"password","name":"a","secret":"canary","thisDeviceOnly":yes}"#, "true or false"),
    (#"{"kind":"password","name":"a","secret":"canary","accessible":"always"}"#, "none of"),
    (#"{"kind":"password","name":"a","secret":"canary","role":"prover"}"#, "credentials"),
    (#"{"kind":"password","name":"a","secret":"canary","access":"passcode,always"}"#, "comma list"),
    (#"{"kind":"password","name":"a","secret":"canary","access":"application-password"}"#, "add"),
    (#"{"kind":"password","name":"a","secret":"canary","access":"passcode,presence"}"#, "presence"),
    (#"{"kind":"password","name":"a","secret":"canary","exhausted":true}"#, "credentials"),
    (#"{"kind":"otp","name":"a","exhausted":true,"uri":"\#(uri)"}"#, "counter at its end"),
    (#"{"kind":"otp","name":"a","secret":"canary"}"#, "uri"),
    (#"{"kind":"otp","name":"a","uri":"otpauth://totp/x?secret=canary1"}"#, "Base32"),
    ("{\"kind\":\"password\",\"name\":\"a\",\"secret\":\"\u{0}\"}", "control character"),
  ]

  /// Verified to fail when the milliseconds of a date are taken for seconds.
  @Test(
    "an expiry is a number, or a date as --expires takes it",
    arguments: [
      ("4102444800", 4_102_444_800), (#""2100-01-01""#, 4_102_444_800),
      (#" "2100-01-01T01:00+01:00""#, 4_102_444_800), (#""2100-01-01 00:00:07 UTC""#, 4_102_444_807),
    ])
  func expiry(value: String, seconds: Int) throws {
    let tool = try newTool()
    let line = #"{"kind":"password","name":"dated","secret":"x","expires":\#(value)}"#
    let run = try tool("import", "jsonl", input: Array(line.utf8))
    expect(run.exit, equals: 0, "\(run.errors)")
    try expect(tool("show", "dated", "--json").json["expires"] as? Int, equals: seconds)
  }

  /// Verified to fail on commit c41b4145, where a number ends at its first character that is no digit: "'}' is missing".
  @Test(
    "a wrong value is told with its field and with what is wanted",
    arguments: [
      "1e10", "1.5", "-", "\"2026\"", "null", "true", "1e400", "99999999999999999999", "01", "0x1", "", "[1]",
    ])
  func wrongValue(value: String) throws {
    let tool = try newTool()
    let start = #"{"kind":"otp","name":"a","secret":"canary","#
    for field in ["expires", "created", "modified", "window", "counter", "thisDeviceOnly", "needsResync"] {
      guard value != "true" || !["thisDeviceOnly", "needsResync"].contains(field) else { continue }
      for end in ["}", "", ",\"label\":\"x\"}"] {
        let good = #"{"kind":"password","name":"good","secret":"x"}"#
        let run = try tool(
          "import", "jsonl", "--json", input: Array("\(start)\"\(field)\":\(value)\(end)\n\(good)".utf8))
        let message = try #require(try run.error["message"] as? String)
        #expect(run.exit == 12 && message.hasPrefix("line 1: "), "\(message)")
        #expect(message.contains("is wanted (in \"\(field)\")"), "\(field):\(value)\(end): \(message)")
      }
    }
    for (field, what) in [
      ("expires", "seconds since 1970"), ("window", "from 1 to"), ("counter", "is wanted"),
    ] {
      let run = try tool(
        "import", "jsonl",
        input: Array("\(start)\"suite\":\"OCRA-1:HOTP-SHA1-6:C-QN08\",\"\(field)\":-1}".utf8))
      #expect(run.exit == 12 && run.errors.contains(field) && run.errors.contains(what), "\(run.errors)")
    }
  }

  @Test("several bad lines are all named before it ends")
  func severalBadLines() throws {
    let tool = try newTool()
    let good = #"{"kind":"password","name":"good","secret":"x"}"#
    let run = try tool("import", "jsonl", input: Array("x\n\(good)\ny\n\(good)\n{\"kind\":1}".utf8))
    expect(run.exit, equals: 12)
    for number in [1, 3, 5] { #expect(run.errors.contains("vaultctl: line \(number): "), "\(run.errors)") }
    #expect(run.errors.contains("3 lines cannot be read") && run.errors.contains("nothing was imported"))
    try expect(names(tool), equals: [])
  }

  /// Verified to fail when the lines of a pipe are kept without a bound.
  @Test("only so much of a pipe is kept; a file may be longer")
  func longPipe() throws {
    let line = #"{"kind":"password","name":"n","secret":"x"}"# + "\n"
    let (text, limit) = (String(repeating: line, count: 4), 3 * 513)
    func count(_ descriptor: Int32) throws -> Int {
      try ImportLines(descriptor, allowingWeak: false, endedBy: Interruption(), keepingAtMost: limit) { _ in }
        .count
    }
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try pipe.fileHandleForWriting.close()
    let error = #expect(throws: CommandError.self) { try count(pipe.fileHandleForReading.fileDescriptor) }
    expect(error?.code, equals: "importTooLong")
    expect(error?.hint, equals: "write them into a file and name it: vaultctl import jsonl FILE")
    let tool = try newTool()
    let file = URL(fileURLWithPath: tool.home.path + "/long.jsonl")
    try Data(text.utf8).write(to: file)
    let long = try FileHandle(forReadingFrom: file)
    try expect(count(long.fileDescriptor), equals: 4)
    let short = Pipe()
    try short.fileHandleForWriting.write(contentsOf: Data(line.utf8))
    try short.fileHandleForWriting.close()
    try expect(count(short.fileHandleForReading.fileDescriptor), equals: 1)
  }

  @Test("an error in the last of many lines leaves the vault as it was, in one step")
  func allOrNothing() throws {
    let tool = try newTool()
    try expect(tool("add", "last", input: [1]).exit, equals: 0)
    let before = try tool("audit").text
    let lines = (1...300).map { "{\"kind\":\"password\",\"name\":\"n\($0)\",\"secret\":\"x\"}" }
    let run = try tool(
      "import", "jsonl", "--json",
      input: Array(
        (lines + [#"{"kind":"password","name":"last","secret":"x"}"#]).joined(separator: "\n").utf8))
    #expect(try run.exit == 8 && (run.error["message"] as? String)?.hasPrefix("line 301: ") == true)
    try expect(names(tool), equals: ["last"])
    try expect(tool("audit").text, equals: before)
    try expect(tool("import", "jsonl", input: Array(lines.joined(separator: "\n").utf8)).exit, equals: 0)
    try expect(names(tool).count, equals: 301)
  }
}
