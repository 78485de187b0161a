import Foundation
import TestSupport
import Testing

/// Verified to fail when `undo` takes the oldest version; when `rm` of a kind without a place in the trash says that it is there; and
/// when a name that is in the trash is said to be nowhere.
@Suite("Former versions and the trash at the command line", .bounded)
struct EntryHistoryTests {
  private func newTool(_ passwords: [String] = ["one"]) throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("add", "mail", "--field", "k=v", input: Array(passwords[0].utf8)))
    for password in passwords.dropFirst() {
      tool.advance(by: 60)
      expect(0, try tool("edit", "mail", "--password", input: Array(password.utf8)))
    }
    return tool
  }

  @Test("versions are listed newest first with their ends, restored by number, and undone one step")
  func history() throws {
    let tool = try newTool(["one", "two", "three"])
    try expect(
      tool("history", "mail").text,
      equals: "2  until 2030-03-17 17:48:40 UTC\n1  until 2030-03-17 17:47:40 UTC\n")
    expect(0, try tool("undo", "mail", "1"), "changed: password")
    try expect(tool("get", "mail").text, equals: "one")
    expect(0, try tool("undo", "mail"), "changed: password")
    try expect(tool("get", "mail").text, equals: "three")
    let undone = try tool("undo", "mail", "--json").json
    expect(undone["changed"] as? [String], equals: ["password"])
    try expect(tool("get", "mail", "--field", "k").text, equals: "v")
    expect(1, try tool("undo", "mail", "99"))
    expect(2, try tool("undo", "mail", "x"), "VERSION takes a whole number")
    expect(1, try tool("get", "mail", "--version", "99"))
    try expect((tool("history", "mail", "--json").json["versions"] as? [Any])?.count, equals: 5)
  }

  @Test("--forget leaves no former version, also not of what it replaces; nothing else does")
  func forgotten() throws {
    let tool = try newTool(["one", "two"])
    expect(0, try tool("edit", "mail", "--forget"))
    expect(0, try tool("history", "mail"), "there is no former version")
    expect(1, try tool("undo", "mail"), "there is no former version of 'mail'")
    try expect(tool("get", "mail").text, equals: "two")
    expect(0, try tool("edit", "mail", "--password", input: [65]))
    expect(0, try tool("edit", "mail", "--password", "--forget", input: [66]))
    expect(1, try tool("undo", "mail"))
    try expect(
      tool("get", "mail").text + tool("get", "mail", "--field", "k").text, equals: "Bv")
  }

  @Test("what is removed is in the trash with its history, its name is free, and it comes back")
  func trash() throws {
    let tool = try newTool(["one", "two"])
    let run = try tool("rm", "mail")
    expect(
      0, run,
      "'mail' is in the trash until 2030-04-16 17:47:40 UTC; 'vaultctl trash restore mail' puts it back")
    for words in [["get"], ["show"], ["edit", "--label", "x"], ["rm"]] {
      expect(
        1, try tool.run(words + ["mail"]),
        "it is in the trash: 'vaultctl trash restore mail' puts it back")
    }
    #expect(try tool("ls").text.isEmpty && tool("find", "mail").exit == 1)
    let listed = try tool("trash", "list", "--json").json
    expectHelp(of: ["trash", "list"], toName: listed)
    let items = try #require(listed["items"] as? [[String: Any]])
    expect(items.map { $0["name"] as? String }, equals: ["mail"])
    let id = try #require(items[0]["id"] as? String)
    expect(1, try tool("get", "--id", id), "the item is in the trash")
    expect(0, try tool("add", "mail", input: [65]))
    expect(8, try tool("trash", "restore", "mail"), "'vaultctl trash restore mail --name NEW'")
    expect(0, try tool("trash", "restore", "mail", "--name", "old mail"), "'old mail' is back")
    try expect(tool("get", "old mail", "--version", "1").text, equals: "one")
    try expect(tool("get", "old mail", "--field", "k").text, equals: "v")
  }

  @Test("undo brings back what was removed last, and several of one name are told apart by their ids")
  func several() throws {
    let tool = try newTool()
    for number in 1...2 {
      expect(0, try tool("rm", "mail"))
      tool.advance(by: 60)
      expect(0, try tool("add", "mail", input: [UInt8(64 + number)]))
    }
    expect(0, try tool("rm", "mail", "--now"))
    let several = try tool("trash", "restore", "mail")
    expect(2, several, "2 items in the trash have that name")
    expect(0, try tool("undo", "mail"), "'mail' is back")
    try expect(tool("get", "mail").text, equals: "A")
    expect(0, try tool("trash", "restore", "mail", "--name", "first"))
    expect(1, try tool("trash", "restore", "mail"), "there is no such item in the trash")
    expect(1, try tool("undo", "nobody"), "there is no item 'nobody'")
  }

  @Test("a counter comes back where it was; --now, empty and other kinds are for good; 30 days are")
  func forGood() throws {
    let tool = try newTool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "code", input: Array(uri.utf8)))
    try expect(tool("code", "code").text, equals: "755224\n")
    expect(0, try tool("otp", "rm", "code"), "'code' is in the trash")
    expect(1, try tool("code", "code"), "it is in the trash")
    expect(0, try tool("undo", "code"))
    try expect(tool("code", "code").text, equals: "287082\n")
    let gone = try tool("otp", "rm", "code", "--now", "--json")
    #expect(try gone.exit == 0 && gone.json["deleted"] as? Bool == true && gone.json["inTrash"] == nil)
    expect(0, try tool("key", "generate", "k"))
    let key = try tool("rm", "k")
    #expect(key.exit == 0 && key.errors.isEmpty, "\(key.errors)")
    expect(0, try tool("trash", "list"), "the trash is empty")
    expect(0, try tool("rm", "mail"))
    let emptied = try tool("trash", "empty", "--json")
    try expect(emptied.json["deleted"] as? Int, equals: 1)
    expect(1, try tool("undo", "mail"))
    expect(0, try tool("add", "late", input: [65]))
    expect(0, try tool("rm", "late"))
    for _ in 1...31 {
      tool.advance(by: 86_400)
      expect(0, try tool("add", "day \(tool.now)", input: [1]))
    }
    expect(1, try tool("undo", "late"))
  }

  @Test(
    "an entry takes its one-time code along, and says so; a code that goes alone needs a name to come back")
  func codes() throws {
    let tool = try newTool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "mail", input: Array(uri.utf8)))
    try expect(tool("code", "mail").text, equals: "755224\n")
    expect(0, try tool("rm", "mail"), "'mail' and its one-time code are in the trash")
    expect(1, try tool("code", "mail"))
    expect(0, try tool("undo", "mail"), "'mail' is back, with its one-time code")
    try expect(tool("code", "mail").text, equals: "287082\n")
    expect(0, try tool("otp", "rm", "mail"), "the one-time code of 'mail' is in the trash")
    try expect(tool("get", "mail").text, equals: "one")
    let items = try #require(try tool("trash", "list", "--json").json["items"] as? [[String: Any]])
    let id = try #require(items.first?["id"] as? String)
    expect(
      2, try tool("trash", "restore", "--id", id),
      "give that of the entry, or another one: --name NAME")
    expect(0, try tool("trash", "restore", "--id", id, "--name", "code"))
    try expect(tool("code", "code").text, equals: "359152\n")
  }

  @Test(
    "a terminal is asked once before what cannot be undone, and a no changes nothing",
    arguments: [
      (["rm", "mail", "--now"], "delete 'mail' for good"),
      (["edit", "mail", "--generate", "8", "--forget"], "forget the former versions of 'mail'"),
      (["edit", "mail", "--forget"], "forget the former versions of 'mail'"),
      (["trash", "empty"], "delete the item in the trash for good"),
      (["key", "rm", "k"], "delete 'k' for good"),
    ] as [([String], String)])
  func asked(words: [String], question: String) throws {
    let tool = try newTool(["one", "two"])
    expect(0, try tool("key", "generate", "k"))
    expect(0, try tool("add", "trashed", input: [65]))
    expect(0, try tool("rm", "trashed"))
    let before = try tool("ls", "--json").text
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, words, tool.environment)
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: question)
    screen.type("n\n")
    try expect(running.wait(), equals: 5)
    try expect(tool("ls", "--json").text, equals: before)
    try expect(tool("history", "mail").text.split(separator: "\n").count, equals: 1)
    expect(0, try tool("trash", "list", "--json"))
    try expect(tool.run(words + ["--yes"], input: []).exit, equals: 0)
  }
}
