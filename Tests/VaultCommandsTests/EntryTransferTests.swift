import Foundation
import TestSupport
import Testing

/// Verified to fail when a field is imported without the mark that it is hidden, and when an export is silent about former versions.
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

  @Test("what stays is named: the trash, and how many entries have former versions")
  func left() throws {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("edit", "shop", "--password", input: [65]))
    expect(0, try tool("add", "gone", input: [65]))
    expect(0, try tool("rm", "gone"))
    let path = tool.home.path + "/out"
    let run = try tool("export", "jsonl", path, "--plain")
    expect(0, run, "left out 'gone' (trash)")
    expect(0, run, "entries with former versions, which an export leaves out: 1")
    let json = try tool("export", "jsonl", path + "2", "--plain", "--json").json
    #expect(
      json["former"] as? Int == 1
        && (json["leftOut"] as? [[String: Any]])?.first?["reason"] as? String == "trash")
    #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("gone"))
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
