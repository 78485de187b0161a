import Foundation
import TestSupport
import Testing

/// A second entry.
///
/// Verified to fail when the copy has the code of the first one; and when it has not its access rule.
@Suite("Copies of entries", .bounded)
struct ItemCopyTests {
  private static let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"

  @Test("a copy has all that the entry has, but its identifier, its code and its former versions")
  func whole() throws {
    let tool = try EntryVerbTests.make()
    let rules = [
      "--audit", "all", "--expires", "2031-01-31", "--expiry", "refuse", "--label", "L", "--comment", "C",
    ]
    expect(0, try tool.run(["edit", "shop"] + rules))
    expect(0, try tool("edit", "shop", "--password", input: Array("second".utf8)))
    expect(0, try tool("otp", "add", "shop", input: Array(Self.uri.utf8)))
    expect(0, try tool("cp", "shop", "shop 2"), "its one-time code stays with 'shop' alone")
    func content(_ name: String) throws -> NSDictionary {
      var json = try tool("show", name, "--reveal", "--json").json
      for member in ["id", "name", "created", "modified", "hasCode"] { json[member] = nil }
      return json as NSDictionary
    }
    try expect(content("shop 2"), equals: content("shop"))
    expect(0, try tool("history", "shop 2"), "there is no former version")
    expect(1, try tool("code", "shop 2"))
    expect(1, try tool("get", "shop 2", "otp"), "the entry has no one-time code")
    try expect(tool("code", "shop").text, equals: "755224\n")
    expect(0, try tool("otp", "list"))
    try expect(tool("otp", "list").text.split(separator: "\n").count, equals: 1)
  }

  @Test(
    "a name that is taken is found before anybody is asked; other kinds and a piece of a name are refused")
  func refused() throws {
    let tool = try EntryVerbTests.make(passcode: "pass word 1")
    let taken = try tool("cp", "shop", "shop", "--no-input")
    expect(8, taken, "there is an item 'shop' already")
    expect(6, try tool("cp", "shop", "other", "--no-input"))
    let passcode = ["--passcode-file", tool.home.path + "/passcode"]
    expect(0, try tool.run(["otp", "add", "code"] + passcode, input: Array(Self.uri.utf8)))
    expect(9, try tool.run(["cp", "code", "code 2"] + passcode), "only an entry is copied")
    expect(1, try tool.run(["cp", "sho", "other"] + passcode), "there is no item 'sho'")
    expect(0, try tool.run(["cp", "shop", "other"] + passcode))
  }

  @Test("the copy of an entry with an access rule asks as reading does, and has the rule")
  func guarded() throws {
    let tool = try EntryVerbTests.make(passcode: "pass word 1")
    let passcode = ["--passcode-file", tool.home.path + "/passcode"]
    let words = ["add", "safe", "--access", "passcode"]
    expect(0, try tool.run(words + passcode, input: [65]))
    expect(6, try tool("cp", "safe", "safe 2", "--no-input"))
    expect(0, try tool.run(["cp", "safe", "safe 2"] + passcode))
    try expect(tool("show", "safe 2", "--json").json["access"] as? String, equals: "passcode")
    expect(6, try tool("get", "safe 2", "--no-input"))
    try expect(tool.run(["get", "safe 2"] + passcode).text, equals: "A")
  }
}
