import Foundation
import TestSupport
import Testing

/// `gen`, with a name and without.
@Suite("Generated passwords", .bounded)
struct ItemGenerateTests {
  @Test(
    "without a name a password is printed and no vault is there or made",
    arguments: [
      ([], #"^[0-9A-Za-z]{24}$"#), (["8"], #"^[0-9A-Za-z]{8}$"#), (["6:words"], #"^([a-z]+-){5}[a-z]+$"#),
      (["64:hex"], #"^[0-9a-f]{64}$"#), (["16:all"], #"^[!-~]{16}$"#),
    ] as [([String], String)])
  func printed(words: [String], pattern: String) throws {
    let tool = try Tool()
    let (one, other) = (try tool.run(["gen"] + words), try tool.run(["gen"] + words))
    expect(0, one, " bits")
    #expect(one.text.range(of: pattern, options: .regularExpression) != nil, "\(one.text)")
    #expect(one.text != other.text)
    let json = try tool.run(["gen"] + words + ["--json"]).json
    expectHelp(of: ["gen"], toName: json)
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/.local/share/vaultctl"))
  }

  @Test("with a name an entry is added, whose password is not printed")
  func added() throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    let run = try tool("gen", "mail", "--account", "anna", "--url", "https://mail.example", "--tag", "t")
    expect(0, run, "generated 24 characters of alnum: 142 bits")
    #expect(run.text.isEmpty)
    try expect(tool("get", "mail").output.count, equals: 24)
    try expect(tool("get", "mail", "user").text, equals: "anna")
    expect(0, try tool("gen", "words", "5:words"))
    try expect(tool("get", "words").text.split(separator: "-").count, equals: 5)
    expect(0, try tool("gen", "24", "20"))
    try expect(tool("get", "24").output.count, equals: 20)
    try expect(tool("gen", "new", "--json").json["entropyBits"] as? Int, equals: 142)
    expect(8, try tool("gen", "mail"))
    expect(9, try tool("gen", "--copy"), "there is no clipboard here")
  }

  @Test("an option for an entry needs its name, and a length is one")
  func refused() throws {
    let tool = try Tool()
    expect(2, try tool("gen", "24", "--account", "anna"), "--account is for a new entry")
    expect(2, try tool("gen", "--tag", "x"), "--tag is for a new entry")
    expect(2, try tool("gen", "mail", "many"), "LENGTH takes a length and an alphabet")
    expect(14, try tool("gen", "mail"))
  }
}
