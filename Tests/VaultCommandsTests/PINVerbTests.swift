import Foundation
import TestSupport
import Testing

@Suite("PINs at the command line")
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
    #expect(made.exit == 0, "\(made.errors)")
    let words = ["otp", "add", "bank", "--pin-mode", mode, "--pin-fd", "3"]
    let added = try tool.run(
      isOpen ? words : words + ["--passcode-fd", "4"], input: mode == "checked" ? Self.uri : Self.rawURI,
      secrets: isOpen ? [3: "8306"] : [3: "8306", 4: passcode!])
    #expect(added.exit == 0, "\(added.errors)")
    return tool
  }

  private func code(_ tool: Tool, _ pin: String, _ more: String...) throws -> Tool.Run {
    try tool.run(["otp", "code", "bank", "--pin-fd", "3"] + more, secrets: [3: pin])
  }

  @Test(
    "codes come behind the right PIN, wrong PINs count and block, and the right one comes too late",
    .requirement("A7"))
  func attempts() throws {
    let tool = try newTool()
    #expect(try code(tool, "8306").text == "755224\n")
    let wrong = try code(tool, "2749", "--json")
    #expect(wrong.exit == 3 && wrong.output.isEmpty)
    #expect(try wrong.error["attemptsLeft"] as? Int == 9)
    #expect(try code(tool, "8306").text == "287082\n")
    for left in (0..<10).reversed() {
      let run = try code(tool, "2749", "--json")
      #expect(try run.error["attemptsLeft"] as? Int == left, "a right PIN begins the count again")
    }
    let blocked = try code(tool, "8306", "--json")
    #expect(blocked.exit == 4 && blocked.output.isEmpty)
    #expect(try blocked.error["code"] as? String == "blocked")
    let verified = try tool("pin", "verify", "--pin-fd", "3", secrets: [3: "8306"])
    #expect(verified.exit == 4)
    #expect(try tool("pin", "status", "pin", "--json").json["blocked"] as? Bool == true)
    #expect(try tool("otp", "counter", "bank").text == "2\n", "a refused PIN uses no counter")
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
    let vault = tool.home.appendingPathComponent(".local/share/vault/default.vault")
    let bytes = try Data(contentsOf: vault)
    let set = try tool("pin", "set", "other", "--new-pin-fd", "3", secrets: [3: pin])
    #expect(set.exit == exit && set.output.isEmpty, "\(set.errors)")
    if pin != "1234" {
      #expect(try code(tool, pin).exit == exit)
      #expect(try Data(contentsOf: vault) == bytes, "the file is another one")
    }
    let changed = try tool(
      "pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: "8306", 4: pin])
    #expect(changed.exit == exit, "\(changed.errors)")
    #expect(try rows().last == before.last)
    #expect(try code(tool, "8306").text == "755224\n")
  }

  @Test("a change is for all credentials, and the old PIN is dead", .requirement("A4", "A10"))
  func change() throws {
    let tool = try newTool()
    let second = try tool(
      "otp", "add", "shop", "--pin", "pin", "--pin-fd", "3", input: Self.uri, secrets: [3: "8306"])
    #expect(second.exit == 0, "\(second.errors)")
    #expect(try code(tool, "8306").text == Self.codes[0] + "\n")
    func change(_ old: String, _ new: String) throws -> Tool.Run {
      try tool("pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", "--json", secrets: [3: old, 4: new])
    }
    #expect(try change("2749", "394827").exit == 3)
    let same = try change("8306", "8306")
    #expect(same.exit == 9)
    #expect(try same.error["code"] as? String == "pinReused")
    #expect(try change("8306", "394827").exit == 0)
    #expect(try code(tool, "8306").exit == 3)
    #expect(try code(tool, "394827").text == Self.codes[1] + "\n")
    #expect(
      try tool("otp", "code", "shop", "--pin-fd", "3", secrets: [3: "394827"]).text == Self.codes[0] + "\n")
  }

  @Test(
    "a camouflaged PIN is judged by nothing here: a wrong one differs in the digits alone",
    .requirement("B10"))
  func camouflaged() throws {
    let tool = try newTool("camouflaged")
    let runs = try ["8306", "2749", "000000", "9999"].map { try code(tool, $0) }
    #expect(runs.allSatisfy { $0.exit == 0 && $0.errors.isEmpty && $0.text.utf8.count == 7 })
    #expect(Set(runs.map(\.text)).count == 4)
    let due = try ["8306", "2749"].map { try code(tool, $0) }
    #expect(due[0].errors.contains("otp confirm") && due[0].errors.contains("otp counter --set"))
    #expect(due[0].errors.replacing("5 codes", with: "6 codes") == due[1].errors)
    #expect(try tool("otp", "confirm", "bank").exit == 0)
    #expect(try code(tool, "8306").errors.isEmpty)
    let verified = try tool("pin", "verify", "pin-camouflaged", "--pin-fd", "3", secrets: [3: "8306"])
    #expect(verified.exit == 9 && verified.output.isEmpty)
    for words in [
      ["item", "get", "pin-camouflaged"], ["item", "get", "bank"], ["otp", "export", "bank"],
      ["item", "rm", "pin-camouflaged"],
    ] { #expect(try tool.run(words).exit == 9, "\(words)") }
    let verifier = try tool(
      "otp", "add", "door", "--role", "verifier", "--pin-mode", "camouflaged", "--pin-fd", "3",
      input: Self.rawURI, secrets: [3: "8306"])
    #expect(verifier.exit == 9)
    let text = try tool(
      "otp", "add", "text", "--pin-mode", "camouflaged", "--pin-fd", "3", input: Self.uri,
      secrets: [3: "8306"])
    #expect(text.exit == 9, "a key that is text shows which PIN is right")
    let exported = try tool("export", "jsonl", "--plain", tool.home.path + "/out")
    #expect(exported.exit == 0 && exported.errors.contains("behindPIN"), "\(exported.errors)")
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
    #expect(try tool("pin", "undo", "pin-camouflaged").exit == 9)
    let changed = try change("8306", "394827")
    #expect(changed.exit == 0 && changed.errors.contains("pending"))
    #expect(try status() == true)
    #expect(try tool("pin", "undo", "pin-camouflaged").exit == 0)
    #expect(try status() == false)
    #expect(try code(tool, "8306").exit == 0)
    #expect(try change("8306", "394827").exit == 0)
    #expect(try tool("otp", "confirm", "bank").exit == 9, "the only code was made before the change")
    #expect(try status() == true)
    #expect(try code(tool, "394827").exit == 0)
    #expect(try tool("otp", "confirm", "bank").exit == 0)
    #expect(try status() == false)
    #expect(try tool("pin", "undo", "pin-camouflaged").exit == 9)
    #expect(try tool("pin", "undo", "pin").exit == 1, "there is no checked one")
  }

  @Test("an unlock key sets a new PIN and ends a block; the key of another item does not")
  func unlock() throws {
    let tool = try Tool()
    #expect(try tool("init", "--no-passcode").exit == 0)
    for name in ["pin", "other"] {
      let set = try tool(
        "pin", "set", name, "--limit", "5", "--unlock-key-out", tool.home.path + "/" + name, "--new-pin-fd",
        "3",
        secrets: [3: "8306"])
      #expect(set.exit == 0, "\(set.errors)")
    }
    let added = try tool(
      "otp", "add", "bank", "--pin", "pin", "--pin-fd", "3", input: Self.uri, secrets: [3: "8306"])
    #expect(added.exit == 0, "\(added.errors)")
    for _ in 0..<5 { #expect(try code(tool, "2749").exit == 3) }
    #expect(try code(tool, "8306").exit == 4)
    func unlock(_ key: String) throws -> Tool.Run {
      try tool(
        "pin", "unlock", "--unlock-key-file", tool.home.path + "/" + key, "--new-pin-fd", "4",
        secrets: [4: "394827"])
    }
    #expect(try unlock("other").exit == 3)
    #expect(try code(tool, "8306").exit == 4)
    let unlocked = try unlock("pin")
    #expect(unlocked.exit == 0, "\(unlocked.errors)")
    #expect(try code(tool, "8306").exit == 3)
    #expect(try code(tool, "394827").text == Self.codes[0] + "\n")
    let changed = try tool(
      "pin", "change", "--pin-fd", "3", "--new-pin-fd", "4", secrets: [3: "394827", 4: "8306"])
    #expect(changed.exit == 0, "\(changed.errors)")
    #expect(try unlock("pin").exit == 0, "a change keeps the unlock key")
    let taken = try tool(
      "pin", "set", "third", "--unlock-key-out", tool.home.path + "/pin", "--new-pin-fd", "3",
      secrets: [3: "8306"])
    #expect(taken.exit == 8, "\(taken.errors)")
  }

  @Test("pin status asks nobody, also in a locked vault, and a PIN with credentials behind it stays")
  func status() throws {
    let tool = try newTool(passcode: "pass")
    let list = try tool("pin", "status", "--no-input", "--json")
    let items = try #require(list.json["items"] as? [[String: Any]])
    #expect(items.count == 1)
    #expect(items[0]["credentials"] as? [String] == ["bank"] && items[0]["pinMode"] as? Int == 1)
    #expect(items[0]["attemptsLeft"] as? Int == 10 && items[0]["marked"] as? Bool == false)
    #expect(try tool("pin", "status", "pin", "--no-input").text.contains("attemptsLeft"))
    #expect(try tool("pin", "status", "bank").exit == 1)
    let removed = try tool("item", "rm", "pin")
    #expect(removed.exit == 9, "a PIN cannot be removed while something is behind it")
    #expect(try tool("item", "rename", "pin", "work").exit == 0)
    let code = try tool(
      "otp", "code", "bank", "--pin-fd", "3", "--passcode-fd", "4", secrets: [3: "8306", 4: "pass"])
    #expect(code.text == Self.codes[0] + "\n", "\(code.errors)")
    #expect(
      try tool("otp", "code", "bank", "--no-input", "--passcode-fd", "4", secrets: [4: "pass"]).exit == 6)
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
      #expect(run.exit == exit, "\(words): \(run.errors)")
    }
    let duplicate = try tool(
      "otp", "add", "bank", "--pin-mode", "camouflaged", "--pin-fd", "3", input: Self.rawURI,
      secrets: [3: "8306"])
    #expect(duplicate.exit == 8)
    #expect(try tool("pin", "status", "pin-camouflaged").exit == 1, "no PIN item stays of it")
  }
}
