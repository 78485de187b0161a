import Foundation
import TestSupport
import Testing

/// What an import does with names that are taken.
@Suite("Duplicates in an import", .bounded)
struct ImportDuplicateTests {
  private let tool: Tool

  init() throws {
    tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
  }

  private func add(_ name: String, _ secret: String, _ more: String...) throws {
    try expect(tool.run(["add", name] + more, input: Array(secret.utf8)).exit, equals: 0)
  }

  private func secret(_ name: String) throws -> String { try tool("get", name).text }

  private func importing(_ mode: String, _ lines: String, _ more: [String] = []) throws -> Tool.Run {
    try tool.run(["import", "jsonl", "--on-duplicate", mode] + more, input: Array(lines.utf8))
  }

  private func names() throws -> [String] {
    try tool("ls", "--format", "name").text.split(separator: "\n").map(String.init)
  }

  private static let gitHub = """
    {"kind":"password","name":"GitHub","secret":"p1","service":"https://github.com","account":"alice"}
    {"kind":"password","name":"GitHub token","secret":"t2","service":"https://github.com","account":"alice"}
    """

  /// Verified to fail when an expired line is left out, and when it is not told.
  @Test(
    "a line that has expired is stored like any other, and told, also by the recorded time",
    arguments: ["skip", "rename", "replace"])
  func expired(mode: String) throws {
    try add("r", "live")
    let lines = [
      #"{"kind":"password","name":"r","secret":"old","expires":\#(tool.now)}"#,
      #"{"kind":"password","name":"strict","secret":"s","expires":1,"expiry":"refuse"}"#,
      #"{"kind":"otp","name":"code","uri":"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ","expires":1}"#,
      #"{"kind":"password","name":"late","secret":"l","expires":\#(tool.now + 9)}"#,
    ].joined(separator: "\n")
    let dry = try importing(mode, lines, ["--dry-run"])
    #expect(
      dry.errors.contains("warning: line 2: 'strict' expired 1970-01-01 00:00:01 UTC; "), "\(dry.errors)")
    #expect(!dry.errors.contains("'late'"))
    let run = try importing(mode, lines, ["--json"])
    try expect(run.json["expired"] as? Int, equals: mode == "skip" ? 2 : 3)
    let items = try #require(try run.json["items"] as? [[String: Any]])
    let first = ["skip": "skipped", "rename": "renamed", "replace": "replaced"][mode]
    expect(items.map { $0["result"] as? String }, equals: [first, "added", "added", "added"])
    expect(items.map { $0["warnings"] == nil }, equals: [mode == "skip", false, false, true])
    #expect(try Set(names()).isSuperset(of: ["r", "strict", "code", "late"]))
    try expect(secret("r"), equals: mode == "replace" ? "old" : "live")
    try expect(tool("get", "strict").exit, equals: 7)
    try expect(tool("code", "code").exit, equals: 7)
  }

  @Test(
    "a line's expiry is one that an item can have", arguments: ["-1", "253402300800", "999999999999999999"])
  func badExpiry(seconds: String) throws {
    let run = try importing("fail", #"{"kind":"password","name":"d","secret":"x","expires":\#(seconds)}"#)
    #expect(run.exit == 12 && run.errors.contains("up to the year 9999"), "\(run.errors)")
    let otp =
      #"{"kind":"otp","name":"d","uri":"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ","expiry":"refuse"}"#
    #expect(try importing("fail", otp).errors.contains("\"expiry\" is for passwords"))
  }

  /// Verified to fail on commit c41b4145, where each hint names every mode.
  @Test("no hint advises what was given", arguments: ["fail", "skip", "rename", "replace"])
  func hints(mode: String) throws {
    let long = String(repeating: "n", count: 254)
    let line = #"{"kind":"password","name":"a","secret":"1"}"#
    try add("a", "old")
    try add("code", "old")
    let credential =
      #"{"kind":"otp","name":"code","uri":"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"}"#
    let longs = line.replacing("\"a\"", with: "\"\(long)\"")
    for lines in [line, line + "\n" + line, longs + "\n" + longs, credential] {
      let run = try importing(mode, lines, ["--dry-run", "--json"])
      guard run.exit != 0 else { continue }
      let hint = try #require(try run.error["hint"] as? String)
      #expect(run.exit == 8 && hint.hasPrefix("nothing was imported; "), "\(hint)")
      #expect(!hint.split(whereSeparator: { " ,".contains($0) }).contains(Substring(mode)), "\(hint)")
    }
  }

  /// Verified to fail on commit ebe6282a, where one of the three items is left.
  @Test(
    "entries of one site and one user stay several, beside an item of another name",
    arguments: ["fail", "skip", "rename", "replace"])
  func sameSite(mode: String) throws {
    try add("github-admin", "mine", "--service", "https://github.com", "--account", "alice")
    let run = try importing(mode, Self.gitHub, ["--json"])
    #expect(try run.exit == 0 && run.json["added"] as? Int == 2, "\(run.errors)")
    try expect(names(), equals: ["GitHub", "GitHub token", "github-admin"])
    try expect(["github-admin", "GitHub", "GitHub token"].map(secret), equals: ["mine", "p1", "t2"])
    for name in try names() {
      try expect(tool("get", name, "--field", "account").text, equals: "alice")
    }
  }

  /// Verified to fail on commit ebe6282a, where the account of a renamed line is renamed, too.
  @Test("a line that is renamed keeps the account that was typed, also where it is the old name")
  func renamed() throws {
    try add("alice", "old")
    try expect(importing("fail", Self.gitHub).exit, equals: 0)
    let lines = Self.gitHub + "\n" + #"{"kind":"password","name":"alice","secret":"new","account":"alice"}"#
    let run = try importing("rename", lines)
    #expect(run.text.contains("line 2: renamed GitHub token -> GitHub token-2: the vault has GitHub token ("))
    #expect(run.text.contains("line 3: renamed alice -> alice-2: the vault has alice (password, alice)"))
    for name in ["GitHub-2", "GitHub token-2", "alice-2"] {
      try expect(tool("get", name, "--field", "account").text, equals: "alice")
    }
    try expect(["alice", "alice-2"].map(secret), equals: ["old", "new"])
  }

  /// Verified to fail when the argument `name` of NewItem makes the account.
  @Test("a line without an account gets none")
  func noAccount() throws {
    try expect(importing("fail", #"{"kind":"password","name":"wifi","secret":"x"}"#).exit, equals: 0)
    try expect(tool("get", "wifi", "--field", "account").exit, equals: 1)
    #expect(try !tool("export", "jsonl", "--plain").text.contains("account"))
  }

  /// Verified to fail when the second line of a name replaces what the first one stored.
  @Test(
    "the second line of a name is renamed, and takes no name of another line or item",
    arguments: ["skip", "rename", "replace"])
  func oneFile(mode: String) throws {
    try add("a-2", "old")
    let lines = ["a", "a", "a-3", "a"].enumerated().map { index, name in
      #"{"kind":"password","name":"\#(name)","secret":"\#(index + 1)"}"#
    }
    let run = try importing(mode, lines.joined(separator: "\n"))
    expect(run.exit, equals: 0, "\(run.errors)")
    #expect(run.text.contains("line 2: renamed a -> a-4: line 1 has that name\n"), "\(run.text)")
    #expect(run.text.contains("line 4: renamed a -> a-5: line 1 has that name\n"), "\(run.text)")
    try expect(["a", "a-2", "a-3", "a-4", "a-5"].map(secret), equals: ["1", "old", "3", "2", "4"])
    expect(8, try importing("fail", lines[0]), "line 1: an item with its name is there")
  }

  @Test("without a mode two lines of one name are refused, and both are named")
  func refused() throws {
    let line = #"{"kind":"password","name":"a","secret":"1"}"#
    let run = try importing("fail", line + "\n\n" + line)
    #expect(run.exit == 8 && run.errors.contains("line 3: line 1 has its name"), "\(run.errors)")
    try expect(names(), equals: [])
    // A name of 254 bytes has no room for a number.
    let long = line.replacing("\"a\"", with: "\"\(String(repeating: "n", count: 254))\"")
    let tooLong = try importing("rename", long + "\n" + long)
    #expect(
      tooLong.exit == 8 && tooLong.errors.contains("line 2: its name is taken, and too long for a number"))
    try expect(names(), equals: [])
  }

  /// Verified to fail when the report names the line alone.
  @Test(
    "the report names what had the name, in text and JSON, and a dry run says the same",
    arguments: [("skip", "skipped"), ("rename", "renamed"), ("replace", "replaced")])
  func named(mode: String, result: String) throws {
    try add("mail", "old", "--service", "s", "--account", "me")
    let id = try #require(try tool("show", "mail", "--json").json["id"] as? String)
    let line = #"{"kind":"password","name":"mail","secret":"new","service":"other"}"#
    let dry = try importing(mode, line, ["--dry-run"])
    let report = dry.text.split(separator: "\n").first.map(String.init) ?? ""
    #expect(
      report.hasPrefix("line 1: \(result) mail") && report.hasSuffix("mail (password, s, me)"), "\(report)")
    try expect(secret("mail"), equals: "old")
    for words in [["--json", "--dry-run"], ["--json"]] {
      let run = try importing(mode, line, words)
      let item = try #require((try run.json["items"] as? [[String: Any]])?.first)
      let other = item["duplicateOf"] as? [String: Any]
      #expect(other?["id"] as? String == id && other?["name"] as? String == "mail")
      #expect(other?["service"] as? String == "s" && other?["account"] as? String == "me")
      expect(item["result"] as? String, equals: result)
      #expect((item["id"] == nil) == (mode == "skip") && (item["oldName"] != nil) == (mode == "rename"))
    }
    try expect(secret("mail"), equals: mode == "replace" ? "new" : "old")
  }

  /// Verified to fail on commit ebe6282a, where a line replaces the credential of a server.
  @Test("an item of another kind is not replaced, nor one that a server has activated")
  func notReplaced() throws {
    let peer = try TestPeer(for: tool)
    let first = try peer.control("add-user", "anna", "--device-credential")
    let start = ["otp", "activate", "start", "bank", "--transport", peer.transport, "--code-fd", "3"]
    try expect(tool.run(start, secrets: [3: first]).exit, equals: 0)
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let line = #"{"kind":"otp","name":"bank","uri":"\#(uri)"}"#
    expect(9, try importing("replace", line), "a server has activated the credential with its name")
    let finish = ["otp", "activate", "finish", "bank", "--transport", peer.transport, "--code-fd", "3"]
    let second = try peer.control("second-code", "anna")
    try expect(tool.run(finish, secrets: [3: second]).exit, equals: 0)
    expect(9, try importing("replace", line), "a server has activated the credential with its name")
    expect(
      9, try importing("replace", line.replacing("\"bank\"", with: "\"bank-device\"")),
      "a server has activated")
    let password = #"{"kind":"password","name":"bank","secret":"x"}"#
    expect(8, try importing("replace", password), "it would replace an item of kind otp")
    try expect(tool("code", "bank").exit, equals: 0)
  }

  /// Verified to fail when a URI is stored without its warnings.
  @Test("what a person should know of a line is told with its number, in text and JSON")
  func warnings() throws {
    let lines = """
      {"kind":"otp","name":"code","uri":"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&color=red"}
      """
    let run = try importing("fail", lines, ["--dry-run"])
    #expect(
      run.errors.contains("warning: line 1: not stored") && run.errors.contains("'color'"), "\(run.errors)")
    let items = try importing("fail", lines, ["--dry-run", "--json"]).json["items"] as? [[String: Any]]
    expect(items?.map { ($0["warnings"] as? [String])?.count }, equals: [1])
  }
}
