import Foundation
import TestSupport
import Testing

/// Verified to fail when `--all` looks into passwords; when items with an access rule are opened; and when the text is compared without
/// regard to its form.
@Suite("Finding items", .bounded)
struct EntryFindTests {
  @Test("a piece of what is open finds an item, whatever the case is; results are sorted by name")
  func open() throws {
    let tool = try EntryVerbTests.make()
    expect(0, try tool("add", "Äpfel", "--comment", "Straße des 17. Juni", input: [1]))
    expect(0, try tool("add", "bank", "--label", "my Shop account", "--service", "shop", input: [1]))
    let uri = Array("otpauth://totp/Shop:me?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Shop".utf8)
    expect(0, try tool("otp", "add", "code", input: uri))
    let found = try tool("find", "sHOp")
    expect(0, found)
    let rows = found.text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1)[0] }
    expect(rows, equals: ["bank", "code", "shop"])
    #expect(found.text.contains("service, label") && found.text.contains("issuer"), "\(found.text)")
    for (text, name) in [
      ("ÄPF", "Äpfel"), ("A\u{308}pf", "Äpfel"), ("STRASSE", nil), ("straßE", "Äpfel"), ("apf", nil),
      ("WORK", "shop"),
      ("shop.EXAMPLE", "shop"), ("anna", "shop"),
    ] as [(String, String?)] {
      let run = try tool("find", text, "--format", "name")
      expect(run.text, equals: name.map { $0 + "\n" } ?? "", "\(text)")
      expect(name == nil ? 1 : 0, run, name == nil ? "nothing was found for '\(text)'" : "")
    }
    let json = try tool("find", "anna", "--json").json
    expectHelp(of: ["find"], toName: json)
    expect((json["items"] as? [[String: Any]])?.first?["foundIn"] as? [String], equals: ["account"])
  }

  @Test("--all also finds in notes, fields and addresses, never in passwords, and prints no value")
  func all() throws {
    let tool = try EntryVerbTests.make()
    for (text, place) in [
      ("LINE ONE", "notes"), ("canary", "\"PIN of card\""), ("pin of", "\"PIN of card\""),
      ("other.ex", "url"),
      ("4711", "\"customer\""),
    ] {
      expect(1, try tool("find", text), "--all also looks into")
      let run = try tool("find", text, "--all")
      #expect(
        run.exit == 0 && run.text == "shop  password  shop.example  anna  \(place)\n",
        "\(run.text)\(run.errors)")
    }
    expect(1, try tool("find", "geheim", "--all"))
    expect(12, try tool("find", ""), "TEXT is empty")
  }

  @Test("--all asks for the passcode once, and counts the entries with an access rule that it leaves out")
  func passcode() throws {
    let tool = try EntryVerbTests.make(passcode: "pass word 1")
    let file = tool.home.path + "/passcode"
    for name in ["bank", "bank 2"] {
      expect(
        0,
        try tool(
          "add", name, "--access", "passcode", "--field", "x=line", "--passcode-file", file,
          input: [65]))
    }
    expect(6, try tool("find", "line", "--all", "--no-input"))
    tool.environment["VAULTCTL_TESTING_DERIVATIONS"] = tool.home.path + "/derivations"
    let run = try tool("find", "line", "--all", "--passcode-file", file)
    expect(0, run, "entries with an access rule, which were not searched: 2")
    #expect(run.text.hasPrefix("shop  ") && run.text.split(separator: "\n").count == 1, "\(run.text)")
    try expect(Data(contentsOf: URL(fileURLWithPath: tool.home.path + "/derivations")).count, equals: 1)
  }

  @Test("lists are filtered by tags and expiry, sorted, and say when nothing matches")
  func lists() throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    for (name, tags) in [("b", ["work"]), ("C", ["work", "home"]), ("a", [])] {
      expect(0, try tool.run(["add", name] + tags.flatMap { ["--tag", $0] }, input: [1]))
      tool.advance(by: 60)
    }
    expect(0, try tool("edit", "b", "--label", "x", "--expires", "1m"))
    tool.advance(by: 120)
    func names(_ words: String...) throws -> String {
      try tool.run(["ls", "--format", "name"] + words).text.replacing("\n", with: " ")
    }
    try expect(names("--sort", "added"), equals: "b C a ")
    try expect(names(), equals: "a b C ")
    try expect(names("--sort", "created"), equals: "a C b ")
    try expect(names("--sort", "modified"), equals: "b a C ")
    try expect(names("--tag", "work"), equals: "b C ")
    try expect(names("--tag", "work", "--tag", "home"), equals: "C ")
    try expect(names("--expired"), equals: "b ")
    let nothing = try tool("ls", "--tag", "nope", "--service", "github")
    #expect(nothing.text.isEmpty)
    expect(1, nothing, "no item has the service 'github', and the tag 'nope'")
    let json = try tool("ls", "--json", "--tag", "nope")
    #expect(try json.exit == 1 && (json.json["items"] as? [Any])?.isEmpty == true)
    try expect(json.error["code"] as? String, equals: "nothingFound")
  }

  @Test("a list of a piece of a name, of a beginning that ends with a slash, and of the trash")
  func pieces() throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("ls"))
    for name in ["work/GitHub", "homework/x", "git"] { expect(0, try tool("add", name, input: [1])) }
    func names(_ words: String...) throws -> String {
      try tool.run(["ls", "--format", "name"] + words).text.replacing("\n", with: " ")
    }
    try expect(names("GIT"), equals: "git work/GitHub ")
    try expect(names("work/"), equals: "work/GitHub ")
    try expect(names("work"), equals: "homework/x work/GitHub ")
    expect(1, try tool("ls", "nope"), "no item has 'nope' in its name")
    expect(1, try tool("ls", "x/"), "no item has a name that begins with 'x/'")
    expect(12, try tool("ls", ""), "TEXT is empty")
    expect(0, try tool("rm", "git"))
    let trash = try tool("ls", "--trash").text
    #expect(trash.hasPrefix("git  ") && trash.split(separator: "\n").count == 1, "\(trash)")
    try expect(
      tool("ls", "--trash", "GI", "--json").text,
      equals: tool("trash", "list", "--json").text)
    expect(1, try tool("ls", "--trash", "nope"), "nothing in the trash has that in its name")
    expect(
      2, try tool("ls", "--trash", "--sort", "name"), "--trash and --sort contradict each other")
  }
}
