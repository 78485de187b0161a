import Foundation
import TestSupport
import Testing

/// What `add` asks for at a terminal.
///
/// Verified to fail when the generated password is printed; and when the user is asked for without echo.
@Suite("Entries that a person types", .bounded)
struct TypedEntryTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    return tool
  }

  /// Types answers to questions.
  private func add(_ words: [String], _ tool: Tool, _ answers: [(String, String)], exit: Int32 = 0) throws
    -> String
  {
    let screen = try PseudoTerminal()
    let running = try tool.start(["add"] + words, on: screen)
    for (question, answer) in answers {
      try screen.wait(for: question)
      screen.type(answer + "\n")
    }
    try expect(running.wait(), equals: exit)
    #expect(screen.echoes)
    return screen.transcript + screen.drain()
  }

  @Test("user and address are asked for and show, the password is asked for twice and does not")
  func typed() throws {
    let tool = try newTool()
    let shown = try add(
      ["shop"], tool,
      [
        ("user (empty: shop): ", "anna"), ("address (empty: none): ", "https://shop.example/login"),
        ("password (empty: a new one is generated): ", "geheim"), ("password again: ", "geheim"),
      ])
    #expect(
      shown.contains("anna") && shown.contains("https://shop.example/login") && !shown.contains("geheim"))
    expect(shown.components(separatedBy: "vaultctl add 'shop': store an entry").count, equals: 2)
    for (part, value) in ["user": "anna", "url": "https://shop.example/login", "password": "geheim"] {
      try expect(tool("get", "shop", part).text, equals: value)
    }
  }

  @Test("empty answers leave the address out and generate a password, which is told by its bits alone")
  func generated() throws {
    let tool = try newTool()
    let shown = try add(
      ["shop"], tool, [("user (", ""), ("address (", ""), ("generated): ", "")])
    #expect(shown.contains("generated 24 characters of alnum: 142 bits"), "\(shown)")
    let secret = try tool("get", "shop").text
    #expect(secret.count == 24 && !shown.contains(secret))
    try expect(tool("get", "shop", "user").text, equals: "shop")
    expect(1, try tool("get", "shop", "url"))
  }

  @Test("what an option gives is not asked for, nor is anything with --generate; a taken name is told first")
  func given() throws {
    let tool = try newTool()
    let shown = try add(
      ["shop", "--account", "anna", "--url", "https://a.example"], tool,
      [("generated): ", "x"), ("password again: ", "x")])
    #expect(!shown.contains("user (") && !shown.contains("address ("))
    _ = try add(["other", "--generate"], tool, [])
    _ = try add(["third", "--no-password"], tool, [])
    let taken = try add(["shop"], tool, [], exit: 8)
    #expect(taken.contains("there is an item 'shop' already") && !taken.contains("user ("), "\(taken)")
    _ = try add(["odd"], tool, [("user (", "a\u{202E}b")], exit: 12)
    expect(1, try tool("get", "odd"))
  }
}
