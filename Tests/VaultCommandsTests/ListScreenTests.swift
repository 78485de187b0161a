import Foundation
import TestSupport
import Testing

@Suite("Lists on a terminal", .bounded)
struct ListScreenTests {
  private static let hotp =
    "otpauth://hotp/Bank:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0&issuer=Bank"
  private static let totp = "otpauth://totp/Git:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Git"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    return tool
  }

  /// What a command prints on a terminal, with standard error on it too.
  private func shown(
    _ words: String, by tool: Tool, _ variables: [String: String] = [:], columns: UInt16 = 80,
    rows: UInt16 = 24
  ) throws -> (text: String, lines: [String], exit: String) {
    let shown = try tool.onScreen(
      words, ["PAGER": "cat"].merging(variables) { $1 }, columns: columns, rows: rows)
    return (shown.text, shown.text.split(separator: "\n").map(String.init), shown.exit)
  }

  @Test("a list has headings and marks, and a pipe gets what it got, sorted by name")
  func list() throws {
    let tool = try newTool()
    for name in ["wifi", "Git", "old"] { expect(0, try tool("add", name, "--service", "s", input: [1])) }
    expect(0, try tool("edit", "old", "--expires", "1m"))
    expect(0, try tool("otp", "add", "Git", input: Array(Self.totp.utf8)))
    expect(0, try tool("otp", "add", "bank", input: Array(Self.hotp.utf8)))
    tool.advance(by: 3600)
    let plain = ["NO_COLOR": "1"]
    expect(
      try shown("ls", by: tool, plain).lines.map { $0.split(separator: " ").joined(separator: " ") },
      equals: [
        "NAME KIND SERVICE ACCOUNT MARKS", "bank otp Bank anna", "Git password s Git code",
        "old password s old expired",
        "wifi password s wifi",
      ])
    let piped = try tool("ls").text
    #expect(piped.hasPrefix("bank  otp       Bank  anna\nGit   password  s     Git\n"), "\(piped)")
    let codes = try shown("otp list", by: tool, plain).text
    #expect(codes.contains("TYPE") && codes.contains("HOTP") && codes.contains("TOTP"), "\(codes)")
    let found = try shown("find bank", by: tool, plain).lines[0]
    #expect(found.contains("FOUND IN"), "\(found)")
    for (variables, isColoured) in [([:], true), (plain, false), (["TERM": "dumb"], false)] {
      let text = try shown("ls", by: tool, variables).text
      #expect(text.contains("\u{1B}[1mNAME") == isColoured, "\(variables) \(text)")
      #expect(text.contains("\u{1B}[33mexpired") == isColoured, "\(variables) \(text)")
      #expect(isColoured || !text.contains("\u{1B}"), "\(text)")
    }
    #expect(try !shown("ls --json", by: tool).text.contains("\u{1B}"))
  }

  @Test("each row is cut to the width of the terminal", arguments: [20, 40, 80, 200])
  func widths(columns: UInt16) throws {
    let tool = try newTool()
    let long = String(repeating: "long", count: 50)
    for name in ["bank", long] {
      expect(
        0, try tool("add", name, "--service", "https://bank.example.org", "--account", "anna", input: [1]))
    }
    let (text, lines, exit) = try shown("ls", by: tool, ["NO_COLOR": "1"], columns: columns)
    expect(exit, equals: "0")
    expect(lines.count, equals: 3, "\(text)")
    #expect(lines.allSatisfy { $0.count <= Int(columns) }, "\(text)")
    #expect(lines[1].hasPrefix("bank "), "\(text)")
    #expect(columns == 200 || lines[2].contains("…"), "\(text)")
    #expect(try tool("ls", "--format", "name").text.contains(long))
  }

  @Test("a list that is longer than the screen goes through the pager, and another does not")
  func pager() throws {
    let tool = try newTool()
    for index in 0..<6 { expect(0, try tool("add", "n\(index)", input: [1])) }
    let pager = ["PAGER": "sed s/^/=/", "NO_COLOR": "1"]
    let paged = try shown("ls", by: tool, pager, rows: 7).lines
    #expect(paged.count == 7 && paged.allSatisfy { $0.hasPrefix("=") }, "\(paged)")
    let fitting = try shown("ls", by: tool, pager, rows: 8).lines
    #expect(fitting.count == 7 && fitting.allSatisfy { !$0.hasPrefix("=") }, "\(fitting)")
    #expect(try tool("ls").text.hasPrefix("n0  "))
  }

  @Test(
    "an empty list says so on a terminal and what to do, with the same exit code, and a pipe gets nothing",
    arguments: [
      ("ls", "the vault has no items: 'vaultctl add NAME' adds one"),
      ("otp list", "there is no credential: 'vaultctl otp add NAME' adds one"),
      ("key list", "there is no key: 'vaultctl key generate NAME' makes one"),
      ("card list", "there is no card token: "), ("card consent list", "there is no consent: "),
      ("biometry list", "the set has no member: "), ("biometry biokey list", "there is no biokey: "),
      ("transaction list", "there is no transaction: "), ("pin status", "there is no PIN: "),
    ])
  func empty(words: String, told: String) throws {
    let tool = try newTool()
    let (text, lines, exit) = try shown(words, by: tool)
    #expect(lines.count == 1 && text.hasPrefix("vaultctl: \(told)"), "\(text)")
    expect(exit, equals: "0")
    let piped = try tool.run(words.components(separatedBy: " "))
    expect(0, piped)
    #expect(piped.text.isEmpty && piped.errors.isEmpty, "\(piped.errors)")
  }

  @Test(
    "what is shown in text has no key of JSON",
    arguments: ["show a", "status", "otp show code", "vault doctor"])
  func words(command: String) throws {
    let tool = try newTool()
    expect(0, try tool("add", "a", input: [1]))
    expect(0, try tool("otp", "add", "code", input: Array(Self.hotp.utf8)))
    let text = try tool.run(command.components(separatedBy: " ")).text
    let keys = text.split(separator: "\n").filter {
      $0.firstMatch(of: /^(ok +|warning +|problem +)?[a-z]+[A-Z]/) != nil
    }
    #expect(!text.isEmpty && keys.isEmpty, "\(keys)")
    if command.hasPrefix("show") { #expect(text.contains("only on this device  no\n"), "\(text)") }
  }
}
