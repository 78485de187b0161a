import Foundation
import TestSupport
import Testing

/// A new password of an entry.
///
/// Verified to fail when the password is replaced in another commit than the rest.
@Suite("New passwords by 'edit'", .bounded)
struct PasswordEditTests {
  @Test("a password and other parts change in one commit, and one undo takes all of it back")
  func together() throws {
    let tool = try EntryVerbTests.make()
    let words = [
      "edit", "shop", "--password", "--set", "field:customer=7", "--unset", "notes", "--json",
    ]
    let changed = try tool.run(words, input: Array("second".utf8)).json["changed"] as? [String]
    expect(Set(changed ?? []), equals: ["password", "notes", "\"customer\""])
    try expect(tool("get", "shop").text, equals: "second")
    try expect(tool("history", "shop").text.split(separator: "\n").count, equals: 1)
    expect(0, try tool("undo", "shop"))
    try expect(tool("get", "shop").text, equals: "geheim")
    try expect(tool("get", "shop", "customer").text, equals: "4711=x")
  }

  @Test("--generate without a value makes 24 characters, also before an option or at the end")
  func generated() throws {
    let tool = try EntryVerbTests.make()
    for words in [["shop", "--generate"], ["--generate", "shop"], ["--generate", "24", "shop"]] {
      expect(0, try tool.run(["edit"] + words), "generated 24 characters of alnum: 142 bits")
      try expect(tool("get", "shop").output.count, equals: 24)
    }
    expect(0, try tool("add", "new", "--generate"), "generated 24 characters")
  }

  @Test(
    "what contradicts itself is refused, and changes nothing",
    arguments: [
      (["--password", "--generate"], 2, "contradict each other"),
      (["--password", "--unset", "password"], 2, "one of them is enough"),
      (["--password", "--editor"], 2, "--editor stands alone"), ([], 2, "nothing to change"),
      (["--password"], 12, "the secret is empty"),
    ] as [([String], Int32, String)])
  func refused(words: [String], exit: Int32, says: String) throws {
    let tool = try EntryVerbTests.make()
    expect(exit, try tool.run(["edit", "shop"] + words), says)
    try expect(tool("get", "shop").text, equals: "geheim")
    expect(0, try tool("history", "shop"), "there is no former version")
  }

  @Test("without an option, a terminal opens the editor")
  func editor() throws {
    let tool = try EntryVerbTests.make()
    tool.environment["EDITOR"] = try tool.program(
      "edit", "#!/bin/sh\nsed -i s/4711=x/4712/ \"$1\"\n")
    let screen = try PseudoTerminal()
    let running = try tool.start(
      shell: "/bin/sh", ["-c", "\"$T\" edit shop; echo end=$?."], on: screen)
    try screen.wait(for: "changed: \"customer\"")
    try screen.wait(for: "end=0.")
    try expect(running.wait(), equals: 0)
    try expect(tool("get", "shop", "customer").text, equals: "4712")
  }
}
