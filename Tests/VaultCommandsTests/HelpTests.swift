import AuthenticatorKit
import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultWords

@Suite("Help and manual pages", .bounded)
struct HelpTests {
  @Test("the whole help of every verb has its examples, its own options and its exit codes, in 80 columns")
  func everyVerb() throws {
    let tool = try Tool()
    for verb in VerbTable.all {
      let request = HelpRequest(topic: .verb(verb))
      let text = Help(VerbTable.program, width: 2000).text(request)
      let names = verb.options.map(\.name) + VerbTable.program.commonOptions.map(\.name)
      expect(Set(names).count, equals: names.count, "\(verb.name): each name is one option's")
      let secret = verb.secretOptions.flatMap { $0.options.map(\.name) }
      let rows = text.split(separator: "\n").filter { $0.hasPrefix("  -") }
      for option in verb.options {
        let isShown = rows.contains { $0.contains(" --\(option.name) ") }
        expect(isShown, equals: !secret.contains(option.name), "\(verb.name) \(option.name)")
      }
      expect(text.contains("help secrets' says how each is given"), equals: !secret.isEmpty, "\(verb.name)")
      for code in verb.exitCodes { #expect(text.contains(" \(code.rawValue)"), "\(verb.name) \(code)") }
      let lines = Help(VerbTable.program).text(request).split(separator: "\n")
      #expect(
        lines.allSatisfy { $0.count <= 80 || !$0.trimmingCharacters(in: .whitespaces).contains(" ") },
        "\(verb.name)")
    }
    for words in [["--help"], ["add", "--help"], ["get", "--help"], ["run", "-h"], ["otp", "add", "-h"]] {
      let run = try tool.run(words)
      #expect(run.exit == 0 && run.errors.isEmpty && run.text.contains("\n  vaultctl "), "\(words)")
    }
  }

  /// Verified to fail when `oauth refresh` does not list 17.
  @Test("a verb with --transport lists the exit code of every error that a server answers with")
  func serverErrors() throws {
    let page = try String(
      contentsOf: Tool.repository.appendingPathComponent("docs/guides/transport.md"), encoding: .utf8)
    let rows = page.matches(of: /\n\| `([A-Z]+)` \|[^\n]*\| (\d+) \| \d+ \|/)
    expect(rows.count, equals: 16)
    let verbs = VerbTable.all.filter { $0.options.contains { $0.name == "transport" } }
    #expect(verbs.count > 10)
    for row in rows {
      let exit = CommandError(VaultError(peer: String(row.1), "no")).exit
      expect(String(exit.rawValue), equals: String(row.2), "\(row.1)")
      for verb in verbs {
        #expect(verb.exitCodes.contains(exit), "\(verb.name): \(row.1) is \(exit.rawValue)")
      }
    }
  }

  @Test("a verb says that it asks for nothing only where no prompt can come")
  func facts() {
    for verb in VerbTable.all {
      let facts = Dictionary(uniqueKeysWithValues: verb.facts.map { ($0.name, $0.text) })
      guard facts["asks"] == "nothing" else { continue }
      expect(facts["reads stdin"], equals: "no", "\(verb.name)")
    }
    let disable = Help(VerbTable.program, width: 200).text(
      HelpRequest(topic: .verb(VerbTable.verb(["otp", "activate", "disable"])!)))
    #expect(disable.contains("vault        needs the vault; its passcode only for another transport"))
    let close = Help(VerbTable.program, width: 200).text(
      HelpRequest(topic: .verb(VerbTable.verb(["card", "session", "close"])!)))
    #expect(close.contains("asks         nothing") && !close.contains("\n  3 "))
  }

  /// Verified to fail when a verb prints a member that its help does not name.
  @Test("the help of a verb names each member that it prints with --json")
  func members() throws {
    let tool = try Tool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("init", "--no-passcode"))
    try expectMembers(tool, "pin", "set", "--new-pin-fd", "3", secrets: [3: "8306"])
    expect(
      0,
      try tool(
        "otp", "add", "guarded", "--pin", "pin", "--pin-fd", "3", input: Array(uri.utf8), secrets: [3: "8306"]
      ))
    try expectMembers(tool, "pin", "verify", "--pin-fd", "3", secrets: [3: "8306"])
    try expectMembers(
      tool, "pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: "8306", 4: "2749"])
    try expectMembers(tool, "pin", "status")
    try expectMembers(tool, "pin", "status", "pin")
    try expectMembers(tool, "code", "guarded", "--pin-fd", "3", secrets: [3: "2749"])
    expect(0, try tool("otp", "add", "time", input: Array(uri.replacing("hotp", with: "totp").utf8)))
    try expectMembers(tool, "code", "time")
    expect(0, try tool("otp", "add", "door", "--role", "verifier", input: Array(uri.utf8)))
    try expectMembers(tool, "otp", "verify", "door", input: "755224")
    expect(0, try tool("key", "generate", "shop"))
    let token = try expectMembers(tool, "jwt", "sign", "shop", input: #"{"exp":4102444800}"#)["token"]
    try expectMembers(tool, "jwt", "verify", "shop", input: #require(token as? String))
    let session = try expectMembers(tool, "card", "session", "open")["session"] as? String
    try expectMembers(tool, "card", "session", "close", "--session-fd", "3", secrets: [3: #require(session)])
  }

  @discardableResult
  private func expectMembers(
    _ tool: Tool, _ words: String..., input: String = "", secrets: [Int32: String] = [:]
  ) throws -> [String: Any] {
    let run = try tool.run(words + ["--json"], input: Array(input.utf8), secrets: secrets)
    expect(0, run)
    let json = try run.json
    expectHelp(of: words, toName: json)
    for item in json["items"] as? [[String: Any]] ?? [] { expectHelp(of: words, toName: item) }
    return json
  }

  @Test("mandoc finds nothing to say about the manual pages, those of the verbs and those written by hand")
  func mandoc() throws {
    let mandoc = try Shell.need("mandoc")
    let tool = try Tool()
    let made = tool.home.appendingPathComponent("man")
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    for page in ManPages(of: VerbTable.program).all {
      try page.text.write(to: made.appendingPathComponent(page.name), atomically: false, encoding: .utf8)
    }
    let byHand = Tool.repository.appendingPathComponent("docs/man")
    for (folder, least) in [(made, 30), (byHand, 3)] {
      let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(pages.count >= least)
      for page in pages {
        let path = folder.appendingPathComponent(page).path
        let run = try tool.run(["-T", "lint", "-W", "warning", path], program: mandoc)
        expect(run.exit, equals: 0, "\(page): \(run.text)\(run.errors)")
      }
    }
  }
}

/// Expects that the note of `--json` in the help of a verb names these members.
func expectHelp(
  of words: [String], toName json: [String: Any], at location: SourceLocation = #_sourceLocation
) {
  guard let verb = [3, 2, 1].lazy.compactMap({ VerbTable.verb(Array(words.prefix($0))) }).first else {
    Issue.record("no verb \(words)", sourceLocation: location)
    return
  }
  let notes = verb.notes.filter { $0.contains("With --json") }.joined(separator: " ")
  let named = Set(notes.split { !$0.isLetter && !$0.isNumber }.map(String.init))
  #expect(
    json.keys.allSatisfy(named.contains), "\(verb.name): \(json.keys.filter { !named.contains($0) })",
    sourceLocation: location)
}
