import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Items at the command line", .bounded)
struct ItemVerbTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  @Test(
    "secrets come back byte for byte",
    arguments: [
      Array("secret".utf8), Array("line\n".utf8), [0], [0, 10, 13, 255, 0], Array("\n".utf8),
      Array(repeating: 0xA5, count: 64 << 10), Array(repeating: 0x0A, count: 1 << 20),
    ] as [[UInt8]])
  func bytes(secret: [UInt8]) throws {
    let tool = try newTool()
    try expect(tool("add", "n", input: secret).exit, equals: 0)
    let got = try tool("get", "n")
    #expect(got.exit == 0 && got.output == secret && got.errors.isEmpty)
    let json = try tool("get", "n", "--json").json
    expect(Data(base64Encoded: try #require(json["secretBase64"] as? String)), equals: Data(secret))
    #expect(
      (json["secret"] as? String).map { Array($0.utf8) }
        == String(validating: secret, as: UTF8.self).map { Array($0.utf8) })
  }

  @Test("an empty secret and one beyond a mebibyte are malformed, and nothing is stored")
  func limits() throws {
    let tool = try newTool()
    try expect(tool("add", "n", input: []).exit, equals: 12)
    try expect(tool("add", "n", input: Array(repeating: 1, count: 1 << 20 + 1)).exit, equals: 12)
    #expect(try tool("ls").text.isEmpty)
  }

  @Test(
    "names are 1 to 255 bytes of UTF-8 without control characters",
    arguments: [
      ("x", true), (String(repeating: "n", count: 255), true), ("Grüße 😀", true), ("with space", true),
      ("", false), (String(repeating: "n", count: 256), false),
      (String(repeating: "n", count: 64 << 10), false),
      ("a\nb", false), ("a\u{1B}[2Jb", false), ("\u{85}", false), ("\u{7F}", false),
    ])
  func names(name: String, isAllowed: Bool) throws {
    let tool = try newTool()
    let run = try tool("add", name, input: [1])
    #expect(run.exit == (isAllowed ? 0 : 12), "\(run.errors)")
    #expect(!run.errors.contains("\u{1B}"))
    #expect(try tool("ls", "--format", "name").text == (isAllowed ? name + "\n" : ""))
  }

  @Test("a name that exists is refused with 8 and kept; service and account can be those of other items")
  func duplicates() throws {
    let tool = try newTool()
    try expect(tool("add", "a", "--service", "s", "--account", "me", input: [1]).exit, equals: 0)
    let same = try tool("add", "a", "--json", input: [2])
    expect(same.exit, equals: 8)
    try expect(same.error["code"] as? String, equals: "duplicateItem")
    try expect(tool("add", "b", "--service", "s", "--account", "me", input: [2]).exit, equals: 0)
    try expect(tool("add", "c", input: [3]).exit, equals: 0)
    try expect(tool("edit", "c", "--service", "s", "--account", "me").exit, equals: 0)
    for (number, name) in ["a", "b", "c"].enumerated() {
      try expect(tool("get", name).output, equals: [UInt8(number + 1)])
    }
  }

  /// Verified to fail when the first of several is taken.
  @Test(
    "service and account that several items have are refused by each verb, and the items are named",
    arguments: [
      ["get"], ["show"], ["mv", "new"], ["rm"],
      ["code"],
      ["otp", "rm"],
    ])
  func several(words: [String]) throws {
    let tool = try newTool()
    let uri = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".utf8)
    let same = ["--service", "s", "--account", "me"]
    for name in ["one", "two"] {
      try expect(tool.run(["add", name] + same, input: [1]).exit, equals: 0)
      try expect(tool("otp", "add", "code " + name, input: uri).exit, equals: 0)
      try expect(tool.run(["edit", "code " + name] + same).exit, equals: 0)
    }
    let before = try tool("ls", "--json").output
    let named =
      ["otp", "code"].contains(words[0]) ? "'code one', 'code two'" : "'one', 'code one', 'two', 'code two'"
    let run = try tool.run(words + same)
    #expect(run.exit == 2 && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.contains("several items have that service and account: \(named)"), "\(run.errors)")
    #expect(try tool("ls", "--json").output == before)
  }

  @Test("an item is found by name, by id, by service and account; nothing else is echoed for it")
  func targets() throws {
    let tool = try newTool()
    try expect(tool("add", "a", "--service", "s", "--account", "me", input: [7]).exit, equals: 0)
    try expect(tool("add", "plain", input: [8]).exit, equals: 0)
    let id = try #require(try tool("show", "a", "--json").json["id"] as? String)
    try expect(tool("get", "--id", id).output, equals: [7])
    try expect(tool("get", "--service", "s", "--account", "me").output, equals: [7])
    try expect(tool("get", "--account", "plain").output, equals: [8])
    try expect(tool("get", "--service", "s").exit, equals: 2)
    try expect(tool("get", "a", "--id", id).exit, equals: 2)
    try expect(tool("get", "--service", "x", "--account", "me").exit, equals: 1)
    try expect(tool("get", "--id", String(repeating: "0", count: 32)).exit, equals: 1)
    try expect(tool("get", "nobody").exit, equals: 1)
  }

  @Test("update, edit and rename change what they name and nothing else")
  func changes() throws {
    let tool = try newTool()
    try expect(tool("add", "a", "--label", "old", "--comment", "c", input: [1]).exit, equals: 0)
    try expect(tool("edit", "a", "--password", input: [2, 3]).exit, equals: 0)
    try expect(tool("edit", "a", "--label", "new", "--comment", "").exit, equals: 0)
    try expect(tool("mv", "a", "b").exit, equals: 0)
    let shown = try tool("show", "b", "--json").json
    expect(shown["label"] as? String, equals: "new")
    #expect(shown["comment"] == nil)
    expect(shown["account"] as? String, equals: "a", "a rename changes the name alone")
    try expect(tool("get", "b").output, equals: [2, 3])
    try expect(tool("get", "a").exit, equals: 1)
    try expect(tool("add", "a", input: [4]).exit, equals: 0, "the old name is free again")
    try expect(tool("mv", "b", "a").exit, equals: 8)
    try expect(tool("edit", "b").exit, equals: 2)
    try expect(tool("rm", "b").exit, equals: 0)
    try expect(tool("rm", "b").exit, equals: 1)
  }

  @Test("generated secrets have the length and alphabet asked for, and no two are equal")
  func generated() throws {
    let tool = try newTool()
    let shapes = [
      ("24", "^[A-Za-z0-9]{24}$"), ("40:alnum", "^[A-Za-z0-9]{40}$"), ("64:hex", "^[0-9a-f]{64}$"),
      ("300:all", "^[!-~]{300}$"), ("6:words", "^([a-z]{3,8}-){5}[a-z]{3,8}$"), ("1", "^[A-Za-z0-9]$"),
    ]
    for (index, (shape, pattern)) in shapes.enumerated() {
      try expect(tool("add", "g\(index)", "--generate", shape).exit, equals: 0)
      let first = try tool("get", "g\(index)").text
      #expect(first.range(of: pattern, options: .regularExpression) != nil, "\(shape): \(first)")
      guard shape != "1" else { continue }
      try expect(tool("edit", "g\(index)", "--generate", shape).exit, equals: 0)
      #expect(try tool("get", "g\(index)").text != first)
    }
    try expect(tool("add", "x", "--generate", "24:emoji").exit, equals: 2)
  }

  @Test("lists show what was asked for, and control characters of labels reach no terminal")
  func lists() throws {
    let tool = try newTool()
    try expect(tool("ls", "--json").text, equals: "{\"items\":[]}\n")
    for name in ["c", "a", "b"] {
      try expect(
        tool("add", name, "--service", name == "b" ? "other" : "s", input: [1]).exit, equals: 0)
    }
    try expect(tool("ls", "--format", "name").text, equals: "a\nb\nc\n")
    try expect(tool("ls", "--service", "s", "--format", "name").text, equals: "a\nc\n")
    #expect(try tool("ls", "--kind", "otp", "--format", "name").text.isEmpty)
    #expect((try tool("ls", "--json").json["items"] as? [[String: Any]])?.count == 3)
    try expect(tool("add", "d", "--label", "a\u{1B}[2Jb", input: [1]).exit, equals: 12)
  }

  /// Verified to fail when the widths are those of the first 256. Verified to fail on commit b8da9bc, which prints
  /// nothing where an item is damaged.
  @Test(
    "a long list is laid out as a whole; an item that is damaged is named (10), and the others are printed")
  func longList() throws {
    let tool = try newTool()
    let names = (0..<600).map { $0 == 599 ? "z, the longest name of all" : "n\(1000 + $0)" }
    let lines = names.map { #"{"args":["add","\#($0)","--service","s"],"stdin":"x"}"# + "\n" }
    try expect(tool("vault", "batch", input: Array(lines.joined().utf8)).exit, equals: 0)
    let text = names.map { $0.padding(toLength: 28, withPad: " ", startingAt: 0) + "password  s  \($0)\n" }
    try expect(tool("ls").text, equals: text.joined())
    try expect(tool("ls", "--format", "name").text, equals: names.map { $0 + "\n" }.joined())
    let json = try tool("ls", "--json").json
    #expect((json["items"] as? [[String: Any]])?.map { $0["name"] as? String } == names)
    let inBatch = try tool("vault", "batch", input: Array(#"{"args":["ls"]}"#.utf8)).json
    #expect((inBatch["result"] as? NSDictionary) == json as NSDictionary)
    do {
      var store = try Store.open(
        at: tool.home.path + "/.local/share/vaultctl/default.vault", access: .readWrite)
      try store.write { store throws(StorageError) in
        var last: ItemRow?
        try store.forEachItem(after: 599) { (row: ItemRow) throws(StorageError) in
          last = row
          return true
        }
        last!.meta[40] ^= 1
        try store.updateItem(last!)
      }
    }
    let left = try tool("ls", "--format", "name")
    #expect(left.exit == 10 && left.text == names.dropLast().map { $0 + "\n" }.joined())
    let id = try #require(
      (json["items"] as? [[String: Any]])?.last?["id"] as? String)
    #expect(left.errors.contains(id), "\(left.errors)")
    let whole = try tool("ls", "--json")
    #expect(try whole.exit == 10 && (whole.json["items"] as? [Any])?.count == 599)
  }
}
