import Foundation
import TestSupport
import Testing
import VaultTestKit

/// Former versions, the trash and the one-time codes of entries go out and come in again.
@Suite("Histories and the trash that are exported and imported", .bounded)
struct HistoryTransferTests {
  private static func uri(_ key: String, counter: Int) -> [UInt8] {
    let secret = String(repeating: key, count: 32)
    return Array("otpauth://hotp/x?secret=\(secret)&counter=\(counter)".utf8)
  }

  private static func add(_ name: String, _ secrets: String..., to tool: Tool) throws {
    for (index, secret) in secrets.enumerated() {
      expect(
        0,
        try tool.run(index == 0 ? ["add", name] : ["edit", name, "--password"], input: Array(secret.utf8)))
    }
  }

  /// The entry `shop` with two former versions and a code, and four items in the trash: an entry with its code and a former version, a
  /// password whose name is taken again, a credential, and the former code of an entry, which has no name.
  private static func make() throws -> Tool {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("otp", "add", "shop", input: uri("A", counter: 2)))
    expect(0, try tool("edit", "shop", "--set", "field:customer=2", "--unset", "notes"))
    try expect(tool("edit", "shop", "--password", input: Array("three".utf8)).exit, equals: 0)
    expect(0, try tool("add", "club", "--expires", "2126-01-01", "--field", "m=7", input: [65]))
    expect(0, try tool("otp", "add", "club", input: uri("B", counter: 4)))
    expect(0, try tool("edit", "club", "--password", input: [66]))
    try add("again", "thrown away", to: tool)
    expect(0, try tool("otp", "add", "alone", input: uri("C", counter: 9)))
    for name in ["club", "again"] { expect(0, try tool("rm", name)) }
    expect(0, try tool("otp", "rm", "alone"))
    try add("again", "new", "newer", to: tool)
    try add("left", "x", to: tool)
    expect(0, try tool("otp", "add", "left", input: uri("D", counter: 1)))
    expect(0, try tool("otp", "rm", "left"))
    return tool
  }

  private static func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    return tool
  }

  /// The lines of an export, without the times at which the items were stored.
  private static func lines(_ tool: Tool) throws -> [[String: NSObject]] {
    let run = try tool("export", "jsonl", "--plain")
    expect(0, run)
    return try run.text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      var members = try #require(object as? [String: NSObject])
      (members["created"], members["modified"]) = (nil, nil)
      return members
    }
  }

  private static func importing(_ tool: Tool, _ text: String, _ more: String...) throws -> Tool.Run {
    try tool.run(["import", "jsonl"] + more, input: Array(text.utf8))
  }

  @Test("exported, imported in a new vault and exported again, nothing differs")
  func roundTrip() throws {
    let tool = try Self.make()
    let before = try Self.lines(tool)
    expect(before.count, equals: 9)
    let text = try tool("export", "jsonl", "--plain").text
    let other = try Self.newTool()
    let dry = try Self.importing(other, text, "--dry-run")
    expect(0, dry)
    #expect(try other("trash", "list").text.isEmpty && other("ls").text.isEmpty)
    let run = try Self.importing(other, text, "--json").json
    #expect(run["added"] as? Int == 9 && run["trash"] as? Int == 5 && run["former"] as? Int == 4)
    try expect(Self.lines(other), equals: before)
    #expect(try other("vault", "check").text.contains("everything is sound"))
    try checkComeBack(other)
  }

  /// What was imported works as what was stored here.
  private func checkComeBack(_ tool: Tool) throws {
    try expect(tool("get", "shop", "--version", "1", "--field", "customer").text, equals: "4711=x")
    try expect(tool("get", "shop", "--version", "2").text, equals: "geheim")
    expect(0, try tool("undo", "shop", "1"))
    try expect(tool("get", "shop").text, equals: "geheim")
    try expect(tool("otp", "counter", "shop", "--json").json["counter"] as? Int, equals: 2)
    expect(8, try tool("trash", "restore", "again"))
    expect(0, try tool("trash", "restore", "again", "--name", "old"))
    try expect(tool("get", "old").text, equals: "thrown away")
    try expect(tool("get", "again").text, equals: "newer")
    expect(0, try tool("trash", "restore", "club"), "with its one-time code")
    try expect(tool("otp", "counter", "club", "--json").json["counter"] as? Int, equals: 4)
    try expect(tool("show", "club", "--json").json["expires"] as? Int, equals: 4_922_899_200)
    try expect(tool("get", "club", "--version", "1").text, equals: "A")
    expect(0, try tool("trash", "restore", "alone"))
    try expect(tool("otp", "counter", "alone", "--json").json["counter"] as? Int, equals: 9)
    #expect(try tool("vault", "check").text.contains("everything is sound"))
  }

  @Test("each way with duplicates names them, and a code goes where its entry goes")
  func duplicates() throws {
    let tool = try Self.make()
    let (text, before) = (try tool("export", "jsonl", "--plain").text, try Self.lines(tool))
    expect(8, try Self.importing(tool, text), "line 1: an item with its name is there")
    let gone = text.split(separator: "\n").filter { $0.contains("trashUntil") }.joined(separator: "\n")
    expect(8, try Self.importing(tool, gone), "line 1: the trash has an item of its name that ends with it")
    let skipped = try Self.importing(tool, text, "--on-duplicate", "skip")
    expect(0, skipped)
    #expect(skipped.text.contains("line 2: skipped shop: the vault has shop"), "\(skipped.text)")
    #expect(skipped.text.contains("skipped club: the trash has club"), "\(skipped.text)")
    try expect(Self.lines(tool), equals: before)
    let replaced = try Self.importing(tool, text, "--on-duplicate", "replace", "--json")
    expect(0, replaced)
    #expect(try replaced.json["replaced"] as? Int == 9)
    // The three passwords that were replaced are in the trash, and no code is with them.
    let after = try Self.lines(tool)
    expect(after.count, equals: 12)
    #expect(before.allSatisfy(after.contains))
    expect(after.filter { $0["ofEntry"] != nil }.count, equals: 2)
    let renamed = try Self.importing(tool, text, "--on-duplicate", "rename")
    expect(0, renamed)
    #expect(renamed.text.contains("line 2: renamed shop -> shop-2"), "\(renamed.text)")
    try expect((tool("history", "shop-2", "--json").json["versions"] as? [Any])?.count, equals: 2)
    // The codes of one secret are made once.
    expect(17, try tool("code", "shop-2"))
    expect(0, try tool("code", "shop"))
    expect(try Self.lines(tool).count, equals: 21)
    #expect(try tool("vault", "check").text.contains("everything is sound"))
  }

  @Test("the trash keeps a line for 30 days at most, and one whose time is over is named and not stored")
  func bounded() throws {
    let tool = try Self.newTool()
    let long = #"{"kind":"password","name":"long","secret":"x","trashUntil":"9999-12-31"}"#
    let over = #"{"kind":"password","name":"over","secret":"x","trashUntil":5}"#
    let run = try Self.importing(tool, long + "\n" + over)
    expect(0, run, "line 1: it stays in the trash for 30 days at most")
    #expect(run.text.contains("line 2: skipped over: its time in the trash is over"), "\(run.text)")
    let items = try #require(try tool("trash", "list", "--json").json["items"] as? [[String: Any]])
    expect(items.map { $0["name"] as? String }, equals: ["long"])
    expect(0, try tool("add", "here", input: [65]))
    expect(0, try tool("rm", "here"))
    let ends = try #require(try tool("trash", "list", "--json").json["items"] as? [[String: Any]])
      .compactMap { $0["until"] as? Int }
    #expect(ends.count == 2 && ends[0] <= ends[1], "\(ends)")
  }

  @Test(
    "a line that no history, no trash and no code can be is named with its number, and nothing is imported",
    arguments: [
      (#""former":[{"secret":"a"}]"#, "\"until\" is not a number of seconds since 1970"),
      (#""former":[{"until":-1,"secret":"a"}]"#, "\"until\" is not a number of seconds since 1970"),
      (#""former":[{"until":253402300800,"secret":"a"}]"#, "\"until\" is not a number"),
      (
        #""former":[{"until":1,"secret":""}]"#,
        "a former version: the line cannot be read: the secret is empty"
      ),
      (#""former":[{"until":1}]"#, "needs \"secret\" or \"secretBase64\""),
      (#""former":[{"until":1,"secret":"a","secretBase64":"YQ=="}]"#, "needs \"secret\" or"),
      (#""former":[{"until":1,"until":2,"secret":"a"}]"#, "or is given twice"),
      (#""former":[{"until":1,"secret":"a","version":7}]"#, "\"version\" is none of until, secret"),
      (
        #""former":[{"until":1,"secret":"a","fields":[{"name":"","value":"x"}]}]"#,
        "the name of a field is empty"
      ),
      (
        #""former":["# + Array(repeating: #"{"until":1,"secret":"a"}"#, count: 6).joined(separator: ",")
          + "]",
        "too many former versions: an entry has at most 5"
      ),
      (#""trashUntil":-5"#, "\"trashUntil\" is not a number of seconds since 1970, up to the year 9999"),
      (#""trashUntil":"soon""#, "a number of seconds since 1970, or a date"),
      (#""ofEntry":true"#, "\"ofEntry\" are for credentials"),
    ])
  func refused(members: String, says: String) throws {
    let tool = try Self.newTool()
    let line = #"{"kind":"password","name":"n","secret":"x","# + members + "}"
    let run = try Self.importing(tool, #"{"kind":"password","name":"m","secret":"x"}"# + "\n" + line)
    expect(12, run, "line 2: ")
    expect(12, run, says)
    #expect(try tool("ls").text.isEmpty && tool("trash", "list").text.isEmpty)
  }

  @Test("a code of an entry is refused where the line before is not its entry; credentials have no history")
  func lostCode() throws {
    let tool = try Self.newTool()
    let uri = #""uri":"otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ""#
    let code = #"{"kind":"otp","name":"n","ofEntry":true,"# + uri
    let entry = #"{"kind":"password","name":"n","secret":"x""#
    let lines = [
      code + "}", entry + "}\n" + code + "}\n" + code + "}",
      entry + "}\n" + code + #","trashUntil":9999999999}"#,
      entry + "}\n" + #"{"kind":"password","name":"m","secret":"x"}"# + "\n" + code + "}",
    ]
    for text in lines { expect(12, try Self.importing(tool, text), "\"ofEntry\" is for the one-time code") }
    expect(
      12, try Self.importing(tool, entry + "}\n" + code + #","former":[{"until":1,"secret":"a"}]}"#),
      "and \"former\" are for passwords")
    expect(
      12, try Self.importing(tool, #"{"kind":"password","secret":"x","trashUntil":5}"#), "\"name\" is missing"
    )
    #expect(try tool("ls").text.isEmpty)
    // Lines without the new members mean what they meant.
    expect(0, try Self.importing(tool, entry + "}\n" + #"{"kind":"otp","name":"code","# + uri + "}"))
    try expect(tool("ls", "--format", "name").text, equals: "code\nn\n")
  }

  @Test("what stays is named: of this device only with its code, and a former version that does not open")
  func left() throws {
    let tool = try Self.newTool()
    expect(0, try tool("add", "here", "--this-device-only", input: [65]))
    expect(0, try tool("otp", "add", "here", input: Self.uri("A", counter: 2)))
    try Self.add("shop", "one", "two", "three", to: tool)
    let path = tool.home.path + "/.local/share/vaultctl/default.vault"
    // The tag, which is summed, stays.
    try RawSQLite.run(
      "UPDATE former SET secret = CAST(x'00' || substr(secret, 2) AS BLOB) WHERE version = 1", on: path)
    let run = try tool("export", "jsonl", tool.home.path + "/out", "--plain", "--json")
    expect(10, run)
    let left = try #require(try run.json["leftOut"] as? [[String: Any]])
    expect(
      left.map { "\($0["name"] ?? "") \($0["reason"] ?? "")" },
      equals: ["here thisDeviceOnly", "here entryStays", "shop damagedFormer"])
    let lines = try Self.importing(
      Self.newTool(), String(contentsOfFile: tool.home.path + "/out", encoding: .utf8), "--json")
    #expect(try lines.json["added"] as? Int == 1 && lines.json["former"] as? Int == 1)
  }

  @Test(
    "former versions behind a rule go where the person is asked, and nothing but an export of all opens the trash"
  )
  func rule() throws {
    let tool = try Tool()
    let file = ["--passcode-file", try tool.file("passcode", "p")]
    expect(0, try tool.run(["init"] + file))
    expect(0, try tool.run(["add", "ruled", "--access", "passcode"] + file, input: [65]))
    expect(0, try tool.run(["edit", "ruled", "--password"] + file, input: [66]))
    let early = ["--accessible", "after-first-unlock"]
    expect(0, try tool.run(["otp", "add", "gone"] + early + file, input: Self.uri("A", counter: 2)))
    expect(0, try tool.run(["otp", "rm", "gone"] + file))
    let run = try tool.run(["export", "jsonl", "--plain"] + file)
    expect(0, run)
    #expect(run.text.contains(#""secret":"B","former":[{"until":"#) && run.text.contains(#""secret":"A"}]"#))
    #expect(run.text.contains(#""name":"gone","trashUntil":"#))
    let items = try #require(try tool("trash", "list", "--json").json["items"] as? [[String: Any]])
    let id = try #require(items.first?["id"] as? String)
    let opened = try tool.run(["otp", "export", "--id", id] + file)
    #expect(opened.exit == 1 && opened.output.isEmpty, "\(opened.exit) \(opened.errors)")
  }
}
