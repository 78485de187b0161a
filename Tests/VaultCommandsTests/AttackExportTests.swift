import TestSupport
import Testing

@Suite("Attacks on an export", .bounded)
struct AttackExportTests {
  // Fails when an access rule has the vault unlocked although nothing that is exported needs that.
  @Test("an item that nobody can be asked for is left out of a locked vault's export, and the others are not")
  func lockedVault() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    for (name, rule) in [("open", []), ("bank", ["passcode"]), ("door", ["presence"])] {
      let run = try tool.run(
        ["add", name, "--accessible", "after-first-unlock", "--passcode-fd", "3"]
          + rule.flatMap { ["--access", $0] },
        input: Array(name.utf8), secrets: [3: "p"])
      expect(run.exit, equals: 0, "\(run.errors)")
    }
    let words = ["export", "jsonl", "--plain", "--no-input"]
    let some = try tool.run(words)
    #expect(some.exit == 0 && some.text.split(separator: "\n").count == 1, "\(some.errors)")
    #expect(some.text.contains(#""name":"open""#) && !some.text.contains("door"))
    for name in ["bank", "door"] { #expect(some.errors.contains("left out '\(name)' (promptNeeded)")) }
    let wrong = try tool.run(words + ["--passcode-fd", "3"], secrets: [3: "q"])
    #expect(wrong.exit == 3 && !wrong.text.contains("bank") && !wrong.text.contains("door"))
    let all = try tool.run(words + ["--passcode-fd", "3"], secrets: [3: "p"])
    #expect(all.exit == 0 && all.text.split(separator: "\n").count == 3, "\(all.errors)")
  }

  // Fails when nobody is told that the rule of an item goes with it.
  @Test("a line that replaces an item and has no access rule is stored without one, which is said")
  func replacedRule() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    let added = try tool(
      "add", "bank", "--access", "passcode", "--passcode-fd", "3", input: [1], secrets: [3: "p"])
    expect(added.exit, equals: 0, "\(added.errors)")
    for (line, isSaid) in [
      (#"{"kind":"password","name":"bank","secret":"x","access":"passcode"}"#, false),
      (#"{"kind":"password","name":"bank","secret":"x"}"#, true),
      (#"{"kind":"password","name":"bank","secret":"x"}"#, false),
    ] {
      let run = try tool(
        "import", "jsonl", "--on-duplicate", "replace", "--passcode-fd", "3", input: Array(line.utf8),
        secrets: [3: "p"])
      expect(run.exit, equals: 0, "\(run.errors)")
      expect(run.errors.contains("'bank' had the access rule passcode"), equals: isSaid, "\(run.errors)")
    }
  }
}
