import Foundation
import TestSupport
import Testing

/// Verified to fail when the opening of a backup does not look at header field 17.
@Suite("The released tool and a vault of a test", .bounded, .requirement("L2"))
struct VaultOfTestVerbTests {
  @Test("each verb that opens the vault refuses it: 9, the reason, and what to do; nothing changes")
  func refused() throws {
    let (tool, recovery) = try filled()
    let before = try contents(of: tool)
    for words in [
      ["status"], ["ls"], ["get", "mail"], ["vault", "check"], ["audit"], ["vault", "purge"],
      ["vault", "rotate", "epoch"], ["vault", "rotate", "device-key"], ["export", "jsonl", "--plain"],
      ["recovery-code", "remove"],
    ] {
      let run = try tool.run(words, program: Tool.shippedPath)
      #expect(run.exit == 9 && run.output.isEmpty, "\(words): \(run.errors)")
      #expect(run.errors.contains("made or changed by a test, with a cheap key derivation"), "\(words)")
      #expect(run.errors.contains("make a real one with 'vaultctl init'"), "\(words)")
    }
    let secrets = [Int32(3): "new", 4: recovery]
    for words in [
      ["passcode", "set", "--new-passcode-fd", "3", "--recovery-fd", "4"],
      ["backup", tool.home.path + "/other.backup", "--passphrase-fd", "3"],
      ["recovery-code", "verify", "--recovery-fd", "4"],
      ["vault", "rotate", "device-key", "--recovery-fd", "4"],
    ] {
      let run = try tool.run(words, secrets: secrets, program: Tool.shippedPath)
      #expect(run.exit == 9 && run.output.isEmpty, "\(words): \(run.errors)")
    }
    try expect(contents(of: tool), equals: before)
  }

  @Test("a recovery refuses it: no key is made, and the vault is as it was")
  func recovery() throws {
    let (tool, recovery) = try filled()
    try FileManager.default.removeItem(atPath: tool.home.path + "/.local/state/vaultctl")
    let before = try contents(of: tool)
    let run = try tool(
      "vault", "rotate", "device-key", "--recovery-fd", "4", secrets: [4: recovery], program: Tool.shippedPath
    )
    #expect(run.exit == 9 && run.errors.contains("made or changed by a test"), "\(run.errors)")
    try expect(contents(of: tool), equals: before)
    try expect(
      tool("vault", "rotate", "device-key", "--recovery-fd", "4", secrets: [4: recovery]).exit, equals: 0)
    try expect(tool("get", "mail").output, equals: [1, 2, 3])
  }

  @Test("doctor says it, and ends with 9")
  func doctor() throws {
    let (tool, _) = try filled()
    let run = try tool("vault", "doctor", "--json", program: Tool.shippedPath)
    let findings = try #require(try run.json["items"] as? [[String: Any]])
    let finding = try #require(findings.first { $0["check"] as? String == "vault" })
    #expect(run.exit == 9 && finding["state"] as? String == "problem")
    #expect((finding["message"] as? String)?.contains("made or changed by a test") == true)
  }

  @Test("its backup is refused before the passphrase is judged, and leaves neither a vault nor a key")
  func backup() throws {
    let (tool, _) = try filled()
    let path = tool.home.path + "/b.backup"
    try expect(tool("backup", path, "--passphrase-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    let other = try Tool()
    for passphrase in ["p", "wrong"] {
      let run = try other(
        "restore", path, "--passphrase-fd", "3", secrets: [3: passphrase], program: Tool.shippedPath)
      #expect(run.exit == 9 && run.errors.contains("made or changed by a test"), "\(run.errors)")
      #expect(try contents(of: other).isEmpty)
    }
  }

  @Test("a vault of the released tool is an ordinary one until a test changes it")
  func changed() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode", program: Tool.shippedPath).exit, equals: 0)
    try expect(tool("ls").exit, equals: 0)
    try expect(tool("ls", program: Tool.shippedPath).exit, equals: 0)
    try expect(tool("passcode", "set", "--new-passcode-fd", "3", secrets: [3: "one"]).exit, equals: 0)
    let run = try tool("status", "--json", program: Tool.shippedPath)
    #expect(try run.exit == 9 && run.error["code"] as? String == "policy")
    try expect(tool("status").exit, equals: 0)
  }

  private func filled() throws -> (tool: Tool, recovery: String) {
    let tool = try Tool()
    let made = try tool("init", "--no-passcode", "--recovery-code", "--json")
    let recovery = try #require(try made.json["recoveryCode"] as? String)
    try expect(tool("add", "mail", input: [1, 2, 3]).exit, equals: 0)
    return (tool, recovery)
  }

  /// Every file below the home with what it holds.
  private func contents(of tool: Tool) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: tool.home.path)
    var contents: [String: Data] = [:]
    for name in names { contents[name] = FileManager.default.contents(atPath: tool.home.path + "/" + name) }
    return contents
  }
}
