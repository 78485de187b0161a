import Foundation
import TestSupport
import Testing

@Suite("Biokeys at the command line", .bounded)
struct BiokeyVerbTests {
  private static let uri = Array(
    "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)

  /// A vault with the passcode `pass`, the member `voice`, and the credential `bank` behind the PIN 8306.
  private func newTool() throws -> Tool {
    let tool = try Tool()
    for (words, secrets, input) in [
      (["init", "--passcode-fd", "3"], [3: "pass"], []),
      (
        ["biometry", "enroll", "voice", "--passcode-fd", "3", "--phrase-fd", "4"],
        [3: "pass", 4: "my voice"], []
      ),
      (
        ["otp", "add", "bank", "--pin-mode", "checked", "--pin-fd", "3", "--passcode-fd", "4"],
        [3: "8306", 4: "pass"], Self.uri
      ),
    ] as [([String], [Int32: String], [UInt8])] {
      let run = try tool.run(words, input: input, secrets: secrets)
      expect(run.exit, equals: 0, "\(run.errors)")
    }
    return tool
  }

  private func run(_ tool: Tool, _ words: [String], pin: String) throws -> Tool.Run {
    try tool.run(words + ["--pin-fd", "3", "--passcode-fd", "4"], secrets: [3: pin, 4: "pass"])
  }

  private func code(_ tool: Tool, phrase: String) throws -> Tool.Run {
    try tool(
      "code", "bank", "--json", "--no-input", "--phrase-fd", "3", "--passcode-fd", "4",
      secrets: [3: phrase, 4: "pass"])
  }

  private func biokeys(_ tool: Tool) throws -> [[String: Any]] {
    // Nobody is asked, and the vault is locked.
    let list = try tool("biometry", "biokey", "list", "--json", "--no-input")
    expect(list.exit, equals: 0, "\(list.errors)")
    return try #require(list.json["items"] as? [[String: Any]])
  }

  @Test(
    "one is registered with the PIN, replaced with a message, listed and reset",
    .requirement("A11", "A12", "A22"))
  func life() throws {
    let tool = try newTool()
    try expect(run(tool, ["biometry", "biokey", "register"], pin: "2749").exit, equals: 3)
    #expect(try biokeys(tool).isEmpty)
    let first = try run(
      tool, ["biometry", "biokey", "register", "--device", "laptop", "--members", "any", "--json"],
      pin: "8306")
    #expect(first.exit == 0 && first.errors.isEmpty, "\(first.errors)")
    #expect(try first.json["replaced"] as? Bool == false && first.json["device"] as? String == "laptop")
    let second = try run(tool, ["biometry", "biokey", "register", "pin", "--name", "mine"], pin: "8306")
    #expect(second.exit == 0 && second.errors.contains("was replaced"))
    let listed = try #require(biokeys(tool).first)
    #expect(try biokeys(tool).count == 1 && listed["id"] as? String != first.json["id"] as? String)
    #expect(listed["name"] as? String == "mine" && listed["pin"] as? String == "pin")
    #expect(listed["members"] as? String == "current-set" && listed["attemptsLeft"] as? Int == 5)
    #expect(try tool("biometry", "biokey", "list").text.contains("usable"))
    let reset = try run(tool, ["biometry", "biokey", "reset"], pin: "8306")
    expect(reset.exit, equals: 0, "\(reset.errors)")
    #expect(try biokeys(tool).isEmpty)
    try expect(run(tool, ["biometry", "biokey", "reset", "other"], pin: "8306").exit, equals: 1)
  }

  @Test(
    "a phrase makes the code in place of the PIN; five wrong ones lock the biokey, and a right PIN ends that",
    .requirement("A14", "B3"))
  func code() throws {
    let tool = try newTool()
    try expect(run(tool, ["biometry", "biokey", "register"], pin: "8306").exit, equals: 0)
    try expect(code(tool, phrase: "my voice").json["code"] as? String, equals: "755224")
    try expect(run(tool, ["code", "bank"], pin: "8306").text, equals: "287082\n")
    for _ in 0..<5 { try expect(code(tool, phrase: "no voice").exit, equals: 3) }
    try expect(biokeys(tool).first?["attemptsLeft"] as? Int, equals: 0)
    let status = try tool("pin", "status", "pin", "--json")
    try expect(status.json["attemptsLeft"] as? Int, equals: 10)
    try expect(code(tool, phrase: "my voice").exit, equals: 4, "a phrase answers no prompt for a PIN")
    try expect(run(tool, ["pin", "verify"], pin: "8306").exit, equals: 0)
    try expect(code(tool, phrase: "my voice").json["code"] as? String, equals: "359152")
  }

  @Test("a camouflaged PIN, a vault without a passcode and one without a member have none")
  func refused() throws {
    let tool = try newTool()
    let set = try tool("pin", "set", "--mode", "camouflaged", "--passcode-fd", "3", secrets: [3: "pass"])
    expect(set.exit, equals: 0, "\(set.errors)")
    let camouflaged = try run(tool, ["biometry", "biokey", "register", "pin-camouflaged"], pin: "8306")
    #expect(camouflaged.exit == 9 && camouflaged.errors.contains("give it away"))
    #expect(
      try tool("biometry", "remove", "voice").exit == 0
        && run(tool, ["biometry", "biokey", "register"], pin: "8306").exit == 9)
    let open = try Tool()
    try expect(open("init", "--no-passcode").exit, equals: 0)
    try expect(open("pin", "set", "--new-pin-fd", "3", secrets: [3: "8306"]).exit, equals: 0)
    try expect(open("biometry", "biokey", "register", "--pin-fd", "3", secrets: [3: "8306"]).exit, equals: 9)
  }
}
