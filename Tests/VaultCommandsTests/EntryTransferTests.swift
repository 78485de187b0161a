import Foundation
import TestSupport
import Testing

/// Verified to fail when a field is imported without the mark that it is hidden.
@Suite("Entries that are exported and imported", .bounded)
struct EntryTransferTests {
  @Test("an entry comes back with notes, fields, addresses and tags, and so do the largest ones")
  func roundTrip() throws {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("add", "wifi", "--no-password"))
    expect(0, try tool("add", "plain", input: [0xFF, 0]))
    let most = try tool.file("most", String(repeating: "\u{1}", count: 64 << 10))
    let large =
      (1...3).flatMap { ["--field-file", "f\($0)=\(most)"] } + (4...64).flatMap { ["--field", "f\($0)=x"] }
    expect(0, try tool.run(["add", "large", "--generate", "24"] + large))
    let lines = try tool("export", "jsonl", "--plain")
    expect(0, lines)
    let other = try Tool()
    expect(0, try other("init", "--no-passcode"))
    expect(0, try other("import", "jsonl", input: lines.output))
    for name in ["shop", "wifi", "plain", "large"] {
      let (one, two) = (
        try tool("show", name, "--json").json, try other("show", name, "--json").json
      )
      for key in ["fields", "urls", "notesLines", "hasPassword", "tags", "host", "account"] {
        expect(one[key] as? NSObject, equals: two[key] as? NSObject, "\(name) \(key)")
      }
    }
    try expect(other("get", "shop", "--field", "PIN of card").text, equals: "canary-1234")
    try expect(other("get", "plain").output, equals: [0xFF, 0])
    try expect(other("export", "jsonl", "--plain").text.count, equals: lines.text.count)
  }

  private static let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=5"

  private func withCode() throws -> Tool {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("otp", "add", "shop", input: Array(Self.uri.utf8)))
    expect(0, try tool("code", "shop"))
    return tool
  }

  /// Verified to fail when an export leaves the code out.
  @Test(
    "the code of an entry comes back with it, under whatever name the entry gets",
    arguments: ["fail", "skip", "rename", "replace"])
  func code(mode: String) throws {
    let tool = try withCode()
    let lines = try tool("export", "jsonl", "--plain")
    expect(0, lines)
    expect(lines.errors.contains("left out"), equals: false)
    let other = try Tool()
    expect(0, try other("init", "--no-passcode"))
    if mode != "fail" { expect(0, try other("add", "shop", input: [65])) }
    let run = try other("import", "jsonl", "--on-duplicate", mode, "--json", input: lines.output)
    expect(0, run)
    let result = ["fail": "added", "skip": "skipped", "rename": "renamed", "replace": "replaced"][mode]
    let items = try #require(try run.json["items"] as? [[String: Any]])
    expect(
      items.map { $0["result"] as? String }, equals: [result, mode == "replace" ? "added" : result])
    let name = mode == "rename" ? "shop-2" : "shop"
    let codes = try other("otp", "list", "--json").json["items"] as? [[String: Any]]
    expect(codes?.map { $0["name"] as? String }, equals: mode == "skip" ? [] : [name])
    try expect(other("code", name).exit, equals: mode == "skip" ? 1 : 0)
    expect(0, try other("mv", name, "moved"))
    try expect(other("code", "moved").exit, equals: mode == "skip" ? 1 : 0)
    expect(0, try other("vault", "check"))
  }

  /// Verified to fail when the code is deleted with the entry that is replaced.
  @Test("a password that replaces an entry leaves its code, also behind a PIN, and the entry is in the trash")
  func replacedEntry() throws {
    let tool = try EntryVerbTests.make()
    let pin = try tool.file("pin", "735192")
    expect(0, try tool("pin", "set", "card", "--new-pin-file", pin))
    expect(
      0,
      try tool("otp", "add", "shop", "--pin", "card", "--pin-file", pin, input: Array(Self.uri.utf8)))
    let line = #"{"kind":"password","name":"shop","secret":"new"}"#
    expect(0, try tool("import", "jsonl", "--on-duplicate", "replace", input: Array(line.utf8)))
    try expect(tool("get", "shop").text, equals: "new")
    expect(0, try tool("code", "shop", "--pin-file", pin))
    let code = #"{"kind":"otp","name":"shop","ofEntry":true,"uri":"\#(Self.uri)"}"#
    let both = try tool("import", "jsonl", "--on-duplicate", "replace", input: Array("\(line)\n\(code)".utf8))
    expect(9, both, "a PIN guards the item with its name")
    expect(0, try tool("trash", "restore", "shop", "--name", "old"))
    try expect(tool("get", "old", "--field", "PIN of card").text, equals: "canary-1234")
    try expect(tool("code", "old", "--pin-file", pin).exit, equals: 1)
    expect(0, try tool("vault", "check"))
  }

  @Test(
    "a line that no entry can be is named, and nothing is imported",
    arguments: [
      (#""fields":[{"name":"a","value":"x"},{"name":"a","value":"y"}]"#, "the field \"a\" is there twice"),
      (#""fields":[{"name":"a"}]"#, "a field needs \"name\" and \"value\""),
      (#""fields":[{"name":"","value":"x"}]"#, "the name of a field is empty"),
      (#""fields":[{"name":"a","value":"x","shown":true}]"#, "\"shown\" is none of name, value, hidden"),
      (
        #""fields":["# + Array(repeating: #"{"name":"a","value":"x"}"#, count: 65).joined(separator: ",")
          + "]", "too many fields"
      ),
      (#""urls":[""]"#, "an address is text on one line"),
      (#""secret":"x","tags":["a\u0007"]"#, "a tag has a control character"),
      (#""tags":"x""#, "the line cannot be read"), (#""label":"x""#, "needs \"secret\" or \"secretBase64\""),
    ])
  func refused(members: String, says: String) throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    let line = #"{"kind":"password","name":"n",\#(members)}"#
    expect(12, try tool("import", "jsonl", input: Array(line.utf8)), says)
    #expect(try tool("ls").text.isEmpty)
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let code = #"{"kind":"otp","name":"n","uri":"\#(uri)","notes":"x"}"#
    expect(12, try tool("import", "jsonl", input: Array(code.utf8)), "are for passwords")
  }
}
