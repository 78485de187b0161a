import Foundation
import TestSupport
import Testing

/// Verified to fail when `edit --generate` stores the new password alone; when `--unset` of one part removes another; and when
/// `--set` puts a value into a hidden field.
@Suite("Changing entries at the command line", .bounded)
struct EntryEditTests {
  /// All that an entry has, but its password.
  private func content(_ tool: Tool, _ name: String = "shop") throws -> [String] {
    let json = try tool("show", name, "--reveal", "--json").json
    let fields = try #require(json["fields"] as? [[String: Any]]).compactMap { $0["name"] as? String }
    return try fields.map { try "\($0)=\(tool("get", name, "--field", "field:\($0)").text)" }
      + ["notes", "urls", "tags"].map { try tool("get", name, "--field", $0).text }
  }

  @Test(
    "a new password, made or given, keeps fields, notes, addresses, tags and the history", .requirement("Q6"))
  func newPassword() throws {
    let tool = try EntryVerbTests.make()
    let before = try content(tool)
    let changes: [([String], String)] = [
      (["edit", "shop", "--generate", "24"], ""),
      (["edit", "shop", "--password"], "another"),
      (["edit", "shop", "--generate", "5:words", "--expires", "90d"], ""),
      (["vault", "batch"], #"{"args":["edit","shop","--password"],"stdin":"of a batch"}"#),
    ]
    for (words, input) in changes {
      let password = try tool("get", "shop").text
      expect(0, try tool.run(words, input: Array(input.utf8)))
      #expect(try tool("get", "shop").text != password)
      try expect(content(tool), equals: before, "\(words)")
    }
    let json = try tool("history", "shop", "--json").json
    expectHelp(of: ["history"], toName: json)
    expect((json["versions"] as? [Any])?.count, equals: 4)
    try expect(tool("get", "shop", "--version", "1").text, equals: "geheim")
  }

  /// Verified to fail when a tag that is there, or is not, counts as a change.
  @Test("what a change does not change is not said to be changed, and leaves the former versions")
  func unchanged() throws {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("edit", "shop", "--password", input: [65]))
    let notes = tool.home.path + "/notes"
    for words in [["--tag", "work"], ["--unset", "tag=none"], ["--notes-file", notes]] {
      for _ in 0..<6 { expect(0, try tool.run(["edit", "shop"] + words), "nothing was changed") }
    }
    try expect(tool("get", "shop", "--version", "1").text, equals: "geheim")
  }

  @Test("one line sets, adds and removes what it names, and nothing else")
  func oneLine() throws {
    let tool = try EntryVerbTests.make()
    let run = try tool(
      "edit", "shop", "--set", "account=berta", "--set", "comment=a = b", "--set", "tag=new", "--set",
      "field:customer=4712", "--unset", "tag=home", "--set", "url=https://new.example/x", "--json")
    expect(0, run)
    expectHelp(of: ["edit"], toName: ["changed": 1])
    let json = try run.json
    #expect(json["account"] as? String == "berta" && json["comment"] as? String == "a = b")
    #expect(json["tags"] as? [String] == ["new", "work"] && json["host"] as? String == "new.example")
    expect(json["changed"] as? [String], equals: ["account", "comment", "tags", "addresses", "\"customer\""])
    try expect(
      content(tool),
      equals: [
        "customer=4712", "PIN of card=canary-1234", "line one\nline two\n", "https://new.example/x",
        "new\nwork",
      ])
    try expect(tool("get", "shop").text, equals: "geheim")
    let words = [
      "--unset", "notes", "--unset", "field:customer", "--unset", "tag", "--unset", "label", "--unset", "url",
    ]
    expect(0, try tool.run(["edit", "shop"] + words))
    let left = try tool("show", "shop", "--json").json
    #expect(left["tags"] == nil && left["host"] == nil && left["notesLines"] as? Int == 0)
    expect((left["fields"] as? [[String: Any]])?.count, equals: 1)
    expect(0, try tool("edit", "shop", "--unset", "password"))
    expect(1, try tool("get", "shop"), "it has \"PIN of card\"")
    expect(0, try tool("undo", "shop"), "changed: password")
  }

  @Test("what --unset names goes, and nothing else, and comes back by one undo")
  func removals() throws {
    let tool = try EntryVerbTests.make()
    let before = try content(tool)
    for (key, index) in [("field:customer", 0), ("notes", 2), ("url", 3)] {
      expect(0, try tool("edit", "shop", "--unset", key))
      var left = before
      if key.hasPrefix("field:") { left.remove(at: index) } else { left[index] = "" }
      try expect(content(tool), equals: left, "\(key)")
      try expect(tool("get", "shop").text, equals: "geheim")
      expect(0, try tool("undo", "shop"))
      try expect(content(tool), equals: before, "\(key)")
    }
    expect(0, try tool("edit", "shop", "--unset", "password"))
    try expect(content(tool), equals: before)
    expect(1, try tool("get", "shop"))
  }

  @Test("hidden values come by a descriptor alone, and the value that is replaced stays as a former version")
  func hidden() throws {
    let tool = try EntryVerbTests.make()
    expect(
      9, try tool("edit", "shop", "--set", "field:PIN of card=9"),
      "the field \"PIN of card\" is hidden: its value never comes by an argument")
    expect(9, try tool("edit", "shop", "--field", "PIN of card=9"))
    try expect(tool("get", "shop", "--field", "PIN of card").text, equals: "canary-1234")
    expect(0, try tool.run(["edit", "shop", "--field-fd", "PIN of card=3"], secrets: [3: "5678"]))
    expect(0, try tool.run(["edit", "shop", "--notes-fd", "0"], input: Array("from input".utf8)))
    try expect(tool("get", "shop", "--field", "PIN of card").text, equals: "5678")
    try expect(tool("get", "shop", "--field", "notes").text, equals: "from input")
    try expect(
      tool("get", "shop", "--field", "PIN of card", "--version", "1").text, equals: "canary-1234")
  }

  @Test(
    "what names nothing is refused, and nothing is changed",
    arguments: [
      (["--set", "password=x"], Int32(2), "a password never comes by an argument"),
      (["--set", "notes=x"], 2, "notes never come by an argument"),
      (["--set", "acount=x"], 2, "cannot be set"),
      (["--set", "account"], 2, "--set number 1 has no ="), (["--unset", "acount"], 2, "names nothing"),
      (["--unset", "field:nope"], 1, "the entry has no field \"nope\""),
      (["--set", "account=a", "--account", "b"], 2, "account is given twice"),
      (["--set", "account=a\u{200B}"], 12, "has a character that does not show"),
      (["--editor", "--set", "account=b"], 2, "--editor stands alone"), ([], 2, "nothing to change"),
      (["--set", "field:=x"], 12, "the name of a field is empty"),
    ] as [([String], Int32, String)])
  func refused(words: [String], exit: Int32, says: String) throws {
    let tool = try EntryVerbTests.make()
    let before = try tool("show", "shop", "--json").text
    expect(exit, try tool.run(["edit", "shop"] + words), says)
    try expect(tool("show", "shop", "--json").text, equals: before)
  }

  @Test("a password becomes an entry by its first field; other kinds have none")
  func becomesEntry() throws {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("add", "plain", input: Array("p".utf8)))
    expect(0, try tool("edit", "plain", "--set", "field:k=v"))
    try expect(
      [tool("get", "plain").text, tool("get", "plain", "--field", "k").text],
      equals: ["p", "v"])
    let uri = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".utf8)
    expect(0, try tool("otp", "add", "code", input: uri))
    expect(9, try tool("edit", "code", "--set", "field:k=v"), "whose secret only its component uses")
    expect(0, try tool("edit", "code", "--set", "tag=work"))
    try expect(tool("ls", "--tag", "work", "--format", "name").text, equals: "code\nshop\n")
  }

  @Test("an item behind a passcode of its own is changed with one question for each step", .requirement("Q6"))
  func constrained() throws {
    let tool = try EntryVerbTests.make(passcode: "pass word 1")
    let file = tool.home.path + "/passcode"
    expect(
      0,
      try tool.run(
        ["add", "bank", "--access", "passcode", "--field-fd", "PIN=3", "--passcode-file", file],
        input: [65],
        secrets: [3: "77"]))
    expect(6, try tool("edit", "bank", "--set", "field:k=v", "--no-input"))
    expect(0, try tool("edit", "bank", "--set", "field:k=v", "--passcode-file", file))
    try expect(tool("get", "bank", "--field", "PIN", "--passcode-file", file).text, equals: "77")
    expect(6, try tool("get", "bank", "--version", "1", "--no-input"))
    try expect(tool("get", "bank", "--version", "1", "--passcode-file", file).text, equals: "A")
    expect(6, try tool("undo", "bank", "--no-input"))
    expect(0, try tool("undo", "bank", "--passcode-file", file), "changed: \"k\"")
  }
}
