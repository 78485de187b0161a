import Foundation
import TestSupport
import Testing

@Suite("Attacks on PINs at the command line", .bounded)
struct AttackPINVerbTests {
  private static let uri = Array("otpauth://hotp/x?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP&counter=0".utf8)
  private static let key = "00ff4d8e21b97c0a5be3d64f80c19a7d2263f5ee"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  /// Verified to fail when the channel of the PIN is refused for a suite without P.
  @Test(
    "a signature behind a PIN takes the PIN from its channel, and a wrong camouflaged one looks the same",
    .requirement("A16", "B10"), arguments: ["checked", "camouflaged"])
  func signing(mode: String) throws {
    let tool = try newTool()
    for (name, more) in [("bank", ["--pin-mode", mode, "--pin-fd", "3"]), ("plain", [])] {
      let added = try tool.run(
        ["otp", "add", name, "--suite", "OCRA-1:HOTP-SHA256-8:C-QH64", "--secret-format", "hex"] + more,
        input: Array(Self.key.utf8), secrets: [3: "8306"])
      expect(added.exit, equals: 0, "\(added.errors)")
    }
    func sign(_ name: String, _ pin: String?) throws -> Tool.Run {
      try tool.run(
        ["transaction", "sign", name] + (pin == nil ? [] : ["--pin-fd", "3"]),
        input: Array("Pay 12 EUR to Anna".utf8), secrets: [3: pin ?? ""])
    }
    let server = try (0..<3).map { _ in try sign("plain", nil).text }
    let wrong = try sign("bank", "8307")
    let right = try sign("bank", "8306")
    expect(right.exit, equals: 0, "\(right.errors)")
    #expect(wrong.exit == (mode == "checked" ? 3 : 0), "\(wrong.errors)")
    expect(right.text, equals: server[mode == "checked" ? 0 : 1])
    #expect(wrong.text != server[0])
    if mode == "camouflaged" {
      #expect(wrong.text.utf8.count == 9 && wrong.errors == right.errors)
      try expect(sign("bank", "8306").text, equals: server[2])
    }
    try expect(sign("plain", "8306").exit, equals: 2, "a PIN that is no part of the code is refused")
  }

  /// Verified to fail when `replace` does not look at the PIN.
  @Test("an import replaces no credential behind a PIN", arguments: ["checked", "camouflaged"])
  func importing(mode: String) throws {
    let tool = try newTool()
    let added = try tool.run(
      ["otp", "add", "bank", "--pin-mode", mode, "--pin-fd", "3"], input: Self.uri, secrets: [3: "8306"])
    expect(added.exit, equals: 0, "\(added.errors)")
    let line = #"{"kind":"otp","name":"bank","uri":"\#(String(decoding: Self.uri, as: UTF8.self))"}"# + "\n"
    let vault = tool.home.appendingPathComponent(".local/share/vaultctl/default.vault")
    let before = try Data(contentsOf: vault)
    let run = try tool("import", "jsonl", "--on-duplicate", "replace", input: Array(line.utf8))
    #expect(run.exit == 9 && run.errors.contains("line 1"), "\(run.errors)")
    try expect(Data(contentsOf: vault), equals: before)
    try expect(tool("code", "bank", "--pin-fd", "3", secrets: [3: "8306"]).exit, equals: 0)
  }

  /// Verified to fail when a new PIN that was typed for one command answers for the next ones.
  @Test("a new PIN that is typed in a batch serves no later command of it")
  func batch() throws {
    let tool = try newTool()
    let added = try tool(
      "otp", "add", "bank", "--pin-mode", "checked", "--pin-fd", "3", input: Self.uri, secrets: [3: "8306"])
    expect(added.exit, equals: 0, "\(added.errors)")
    let lines = try tool.file(
      "lines", #"{"args":["pin","set","own"]}"# + "\n" + #"{"args":["code","bank"]}"# + "\n")
    let screen = try PseudoTerminal()
    let running = try tool.start(shell: "/bin/bash", ["-c", "\"$T\" vault batch < \(lines)"], on: screen)
    try screen.wait(for: "new PIN: ", times: 1)
    screen.type("274951\n")
    try screen.wait(for: "new PIN again: ", times: 1)
    screen.type("274951\n")
    try screen.wait(for: #/(?s)"exit":0.*(PIN: |"exit":)/#)
    screen.type("8306\n")
    try expect(running.wait(), equals: 0, "\(screen.transcript)")
    try expect(tool("pin", "status", "pin", "--json").json["attemptsLeft"] as? Int, equals: 10)
  }
}
