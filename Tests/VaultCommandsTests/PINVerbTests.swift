import Foundation
import TestSupport
import Testing

@Suite("PINs at the command line", .bounded)
struct PINVerbTests {
  private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let uri = Array("otpauth://hotp/x?secret=\(key)&counter=0".utf8)
  /// A key that is no text.
  private static let rawURI = Array("otpauth://hotp/x?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP&counter=0".utf8)
  private static let codes = ["755224", "287082", "359152", "969429", "338314", "254676"]

  /// A vault with the credential `bank` behind the PIN 8306.
  private func newTool(_ mode: String = "checked", passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    let isOpen = passcode == nil
    let made =
      isOpen
      ? try tool("init", "--no-passcode") : try tool("init", "--passcode-fd", "3", secrets: [3: passcode!])
    expect(made.exit, equals: 0, "\(made.errors)")
    let words = ["otp", "add", "bank", "--pin-mode", mode, "--pin-fd", "3"]
    let added = try tool.run(
      isOpen ? words : words + ["--passcode-fd", "4"], input: mode == "checked" ? Self.uri : Self.rawURI,
      secrets: isOpen ? [3: "8306"] : [3: "8306", 4: passcode!])
    expect(added.exit, equals: 0, "\(added.errors)")
    return tool
  }

  /// Verified to fail when the PIN is asked for first (6).
  @Test("a PIN is not asked for where its item exists")
  func taken() throws {
    let run = try newTool().run(["pin", "set", "--no-input"])
    expect(8, run, "there is an item 'pin' already")
  }

  private func code(_ tool: Tool, _ pin: String, _ more: String...) throws -> Tool.Run {
    try tool.run(["code", "bank", "--pin-fd", "3"] + more, secrets: [3: pin])
  }

  @Test(
    "codes come behind the right PIN, wrong PINs count and block, and the right one comes too late",
    .requirement("A7"))
  func attempts() throws {
    let tool = try newTool()
    try expect(code(tool, "8306").text, equals: "755224\n")
    let wrong = try code(tool, "2749", "--json")
    #expect(wrong.exit == 3 && wrong.output.isEmpty)
    try expect(wrong.error["attemptsLeft"] as? Int, equals: 9)
    try expect(code(tool, "8306").text, equals: "287082\n")
    for left in (0..<10).reversed() {
      let run = try code(tool, "2749", "--json")
      try expect(run.error["attemptsLeft"] as? Int, equals: left, "a right PIN begins the count again")
    }
    let blocked = try code(tool, "8306", "--json")
    #expect(blocked.exit == 4 && blocked.output.isEmpty)
    try expect(blocked.error["code"] as? String, equals: "blocked")
    let verified = try tool("pin", "verify", "--pin-fd", "3", secrets: [3: "8306"])
    expect(verified.exit, equals: 4)
    #expect(try tool("pin", "status", "pin", "--json").json["blocked"] as? Bool == true)
    try expect(tool("otp", "counter", "bank").text, equals: "2\n", "a refused PIN uses no counter")
  }

  @Test(
    "what is not 4 to 6 ASCII digits is refused, and changes nothing", .requirement("A3"),
    arguments: [
      ("123", 9), ("1234567", 9), ("12a4", 9), ("    ", 9), ("١٢٣٤", 9), ("１２３４", 9), ("", 12),
      ("83\u{0}6", 12),
      (String(repeating: "8", count: 1 << 20), 12), ("1234", 9),
    ] as [(String, Int32)])
  func malformed(pin: String, exit: Int32) throws {
    let tool = try newTool()
    func rows() throws -> [String] {
      // A refused new PIN may be logged. What is stored about PIN and credential stays.
      [try tool("pin", "status", "--json").text, try tool("otp", "show", "bank", "--json").text]
    }
    let before = try rows()
    let vault = tool.home.appendingPathComponent(".local/share/vaultctl/default.vault")
    let bytes = try Data(contentsOf: vault)
    let set = try tool("pin", "set", "other", "--new-pin-fd", "3", secrets: [3: pin])
    #expect(set.exit == exit && set.output.isEmpty, "\(set.errors)")
    if pin != "1234" {
      try expect(code(tool, pin).exit, equals: exit)
      try expect(Data(contentsOf: vault), equals: bytes, "the file is another one")
    }
    let changed = try tool(
      "pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: "8306", 4: pin])
    expect(changed.exit, equals: exit, "\(changed.errors)")
    try expect(rows().last, equals: before.last)
    try expect(code(tool, "8306").text, equals: "755224\n")
  }

  @Test("a change is for all credentials, and the old PIN is dead", .requirement("A4", "A10"))
  func change() throws {
    let tool = try newTool()
    let second = try tool(
      "otp", "add", "shop", "--pin", "pin", "--pin-fd", "3", input: Self.uri, secrets: [3: "8306"])
    expect(second.exit, equals: 0, "\(second.errors)")
    try expect(code(tool, "8306").text, equals: Self.codes[0] + "\n")
    func change(_ old: String, _ new: String) throws -> Tool.Run {
      try tool("pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", "--json", secrets: [3: old, 4: new])
    }
    try expect(change("2749", "394827").exit, equals: 3)
    let same = try change("8306", "8306")
    expect(same.exit, equals: 9)
    try expect(same.error["code"] as? String, equals: "pinReused")
    try expect(change("8306", "394827").exit, equals: 0)
    try expect(code(tool, "8306").exit, equals: 3)
    try expect(code(tool, "394827").text, equals: Self.codes[1] + "\n")
    try expect(
      tool("code", "shop", "--pin-fd", "3", secrets: [3: "394827"]).text, equals: Self.codes[0] + "\n")
  }

  @Test(
    "a camouflaged PIN is judged by nothing here: a wrong one differs in the digits alone",
    .requirement("B10"))
  func camouflaged() throws {
    let tool = try newTool("camouflaged")
    let runs = try ["8306", "2749", "000000", "9999"].map { try code(tool, $0) }
    #expect(runs.allSatisfy { $0.exit == 0 && $0.errors.isEmpty && $0.text.utf8.count == 7 })
    expect(Set(runs.map(\.text)).count, equals: 4)
    let due = try ["8306", "2749"].map { try code(tool, $0) }
    #expect(due[0].errors.contains("otp confirm") && due[0].errors.contains("otp counter --set"))
    expect(due[0].errors.replacing("5 codes", with: "6 codes"), equals: due[1].errors)
    try expect(tool("otp", "confirm", "bank").exit, equals: 0)
    #expect(try code(tool, "8306").errors.isEmpty)
    let verified = try tool("pin", "verify", "pin-camouflaged", "--pin-fd", "3", secrets: [3: "8306"])
    #expect(verified.exit == 9 && verified.output.isEmpty)
    for words in [
      ["get", "pin-camouflaged"], ["get", "bank"], ["otp", "export", "bank"],
      ["rm", "pin-camouflaged"],
    ] { try expect(tool.run(words).exit, equals: 9, "\(words)") }
    let verifier = try tool(
      "otp", "add", "door", "--role", "verifier", "--pin-mode", "camouflaged", "--pin-fd", "3",
      input: Self.rawURI, secrets: [3: "8306"])
    expect(verifier.exit, equals: 9)
    let text = try tool(
      "otp", "add", "text", "--pin-mode", "camouflaged", "--pin-fd", "3", input: Self.uri,
      secrets: [3: "8306"])
    expect(text.exit, equals: 9, "a key that is text shows which PIN is right")
    let exported = try tool("export", "jsonl", "--plain", tool.home.path + "/out")
    #expect(exported.exit == 0 && exported.errors.contains("behindPIN"), "\(exported.errors)")
  }

  /// Verified to fail when the PIN is not looked at.
  @Test("a camouflaged PIN item refuses a PIN, which nothing would keep")
  func camouflagedWithPIN() throws {
    let tool = try newTool()
    let words = ["pin", "set", "--mode", "camouflaged"]
    let given = try tool.run(words + ["--new-pin-fd", "3"], secrets: [3: "8306"])
    #expect(given.exit == 9 && given.errors.contains("--new-pin-fd is given"), "\(given.errors)")
    let file = try tool.run(words + ["--new-pin-file", tool.file("pin", "8306")])
    #expect(file.exit == 9 && file.errors.contains("--new-pin-file is given"), "\(file.errors)")
    try expect(tool("pin", "status", "pin-camouflaged").exit, equals: 1)
    try expect(tool.run(words).exit, equals: 0)
  }

  @Test("a change of a camouflaged PIN is pending until it is confirmed or undone")
  func pending() throws {
    let tool = try newTool("camouflaged")
    func change(_ old: String, _ new: String) throws -> Tool.Run {
      try tool(
        "pin", "change", "pin-camouflaged", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: old, 4: new])
    }
    func status() throws -> Bool? {
      try tool("pin", "status", "pin-camouflaged", "--json").json["pending"] as? Bool
    }
    try expect(tool("pin", "undo", "pin-camouflaged").exit, equals: 9)
    let changed = try change("8306", "394827")
    #expect(changed.exit == 0 && changed.errors.contains("pending"))
    #expect(try status() == true)
    try expect(tool("pin", "undo", "pin-camouflaged").exit, equals: 0)
    #expect(try status() == false)
    try expect(code(tool, "8306").exit, equals: 0)
    try expect(change("8306", "394827").exit, equals: 0)
    try expect(tool("otp", "confirm", "bank").exit, equals: 9, "the only code was made before the change")
    #expect(try status() == true)
    try expect(code(tool, "394827").exit, equals: 0)
    try expect(tool("otp", "confirm", "bank").exit, equals: 0)
    #expect(try status() == false)
    try expect(tool("pin", "undo", "pin-camouflaged").exit, equals: 9)
    try expect(tool("pin", "undo", "pin").exit, equals: 1, "there is no checked one")
  }

  @Test("an unlock key sets a new PIN and ends a block; the key of another item does not")
  func unlock() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for name in ["pin", "other"] {
      let set = try tool(
        "pin", "set", name, "--limit", "5", "--unlock-key-out", tool.home.path + "/" + name, "--new-pin-fd",
        "3",
        secrets: [3: "8306"])
      expect(set.exit, equals: 0, "\(set.errors)")
    }
    let added = try tool(
      "otp", "add", "bank", "--pin", "pin", "--pin-fd", "3", input: Self.uri, secrets: [3: "8306"])
    expect(added.exit, equals: 0, "\(added.errors)")
    for _ in 0..<5 { try expect(code(tool, "2749").exit, equals: 3) }
    try expect(code(tool, "8306").exit, equals: 4)
    func unlock(_ key: String) throws -> Tool.Run {
      try tool(
        "pin", "unlock", "--unlock-key-file", tool.home.path + "/" + key, "--new-pin-fd", "4",
        secrets: [4: "394827"])
    }
    try expect(unlock("other").exit, equals: 3)
    try expect(code(tool, "8306").exit, equals: 4)
    let unlocked = try unlock("pin")
    expect(unlocked.exit, equals: 0, "\(unlocked.errors)")
    try expect(code(tool, "8306").exit, equals: 3)
    try expect(code(tool, "394827").text, equals: Self.codes[0] + "\n")
    let changed = try tool(
      "pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: "394827", 4: "8306"])
    expect(changed.exit, equals: 0, "\(changed.errors)")
    try expect(unlock("pin").exit, equals: 0, "a change keeps the unlock key")
  }

  @Test("the file of an unlock key is never overwritten, and a refused PIN leaves none")
  func unlockKeyFile() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    func set(_ name: String, key: String, pin: String = "8306") throws -> Tool.Run {
      try tool(
        "pin", "set", name, "--unlock-key-out", tool.home.path + "/" + key, "--new-pin-fd", "3",
        secrets: [3: pin])
    }
    try expect(set("pin", key: "key").exit, equals: 0)
    let taken = try set("third", key: "key")
    #expect(
      taken.exit == 8 && taken.errors.contains("it may hold the unlock key that works now"), "\(taken.errors)"
    )
    try expect(set("third", key: "refused", pin: "1234").exit, equals: 9)
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/refused"))
  }

  @Test("pin status asks nobody, also in a locked vault, and a PIN with credentials behind it stays")
  func status() throws {
    let tool = try newTool(passcode: "pass")
    let list = try tool("pin", "status", "--no-input", "--json")
    let items = try #require(list.json["items"] as? [[String: Any]])
    expect(items.count, equals: 1)
    #expect(items[0]["credentials"] as? [String] == ["bank"] && items[0]["pinMode"] as? Int == 1)
    #expect(items[0]["attemptsLeft"] as? Int == 10 && items[0]["marked"] as? Bool == false)
    #expect(try tool("pin", "status", "pin", "--no-input").text.contains("attempts left"))
    try expect(tool("pin", "status", "bank").exit, equals: 1)
    func unlocked(_ words: String...) throws -> Int32 {
      try tool.run(words + ["--passcode-fd", "4"], secrets: [4: "pass"]).exit
    }
    try expect(unlocked("rm", "pin"), equals: 9, "a PIN is not removed while something is behind it")
    try expect(unlocked("mv", "pin", "work"), equals: 0)
    let code = try tool(
      "code", "bank", "--pin-fd", "3", "--passcode-fd", "4", secrets: [3: "8306", 4: "pass"])
    expect(code.text, equals: Self.codes[0] + "\n", "\(code.errors)")
    try expect(
      tool("code", "bank", "--no-input", "--passcode-fd", "4", secrets: [4: "pass"]).exit, equals: 6)
  }

  @Test("contradictions are refused before anything is asked or stored")
  func contradictions() throws {
    let tool = try newTool()
    for (words, exit) in [
      (["--pin", "pin", "--pin-mode", "checked"], 2), (["--pin", "nothing"], 1), (["--pin", "bank"], 1),
      (["--pin-fd", "3"], 2), (["--pin", "pin", "--accessible", "after-first-unlock", "--pin-fd", "3"], 9),
      (["--pin", "pin", "--this-device-only", "--pin-fd", "3"], 9),
    ] as [([String], Int32)] {
      let run = try tool.run(["otp", "add", "more"] + words, input: Self.uri, secrets: [3: "8306"])
      expect(run.exit, equals: exit, "\(words): \(run.errors)")
    }
    let duplicate = try tool(
      "otp", "add", "bank", "--pin-mode", "camouflaged", "--pin-fd", "3", input: Self.rawURI,
      secrets: [3: "8306"])
    expect(duplicate.exit, equals: 8)
    try expect(tool("pin", "status", "pin-camouflaged").exit, equals: 1, "no PIN item stays of it")
  }
}
