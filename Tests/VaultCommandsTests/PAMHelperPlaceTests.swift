import Foundation
import TestSupport
import Testing

/// Where `vaultctl` looks for `vault-pam`: beside itself, then where it is installed, and nowhere else.
@Suite("Where vault-pam is", .bounded)
struct PAMHelperPlaceTests {
  /// A copy of the tool in a folder of its own, and a vault.
  private func newTool() throws -> (tool: Tool, program: String, folder: URL) {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    let folder = tool.home.appendingPathComponent("bin")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = folder.appendingPathComponent("vaultctl-testing").path
    try copy(Tool.path, to: program)
    return (tool, program, folder)
  }

  /// By another process: a program that this one has written may be busy while a thread starts a child.
  private func copy(_ program: String, to path: String) throws {
    try #require(Program("/bin/cp", [program, path]).run().status == 0)
  }

  /// Runs a command without an installed vault-pam: one that is there is hidden from it.
  private func run(_ tool: Tool, _ program: String, _ words: [String]) throws -> Tool.Run {
    let folder = "/usr/libexec/vaultctl"
    guard FileManager.default.fileExists(atPath: folder + "/vault-pam") else {
      return try tool.run(words, secrets: [3: "p"], program: program)
    }
    try needMounts("the absence of vault-pam, which is installed here")
    let hide = ["--mount", "sh", "-c", "mount -t tmpfs none \(folder) && exec \"$@\"", "sh", program]
    return try tool.run(hide + words, secrets: [3: "p"], program: Shell.need("unshare"))
  }

  private func enroll(_ tool: Tool, _ program: String) throws -> Tool.Run {
    try run(tool, program, ["biometry", "enroll", "--source", "login", "--passcode-fd", "3"])
  }

  private func finding(_ tool: Tool, _ program: String) throws -> (
    state: String, message: String, hint: String
  ) {
    let run = try run(tool, program, ["doctor", "--json"])
    let items = try #require(try run.json["items"] as? [[String: Any]])
    let item = try #require(items.first { $0["check"] as? String == "pamHelper" })
    return (
      item["state"] as? String ?? "", item["message"] as? String ?? "", item["hint"] as? String ?? ""
    )
  }

  // Verified to fail when the helper is looked for along PATH.
  @Test("one in PATH or named by a variable is not found, and absence is exit 15")
  func absent() throws {
    let (tool, program, _) = try newTool()
    let ran = tool.home.appendingPathComponent("ran").path
    let elsewhere = tool.home.appendingPathComponent("elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
    _ = try tool.file("elsewhere/vault-pam", "#!/bin/sh\n: > '\(ran)'\n", mode: 0o755)
    tool.environment["PATH"] = "\(elsewhere.path):\(tool.environment["PATH"] ?? "")"
    for name in ["VAULT_PAM", "VAULT_PAM_HELPER", "VAULTCTL_PAM", "VAULT_LIBEXEC"] {
      tool.environment[name] = elsewhere.path + "/vault-pam"
    }
    let run = try enroll(tool, program)
    expect(run.exit, equals: 15)
    #expect(run.errors.contains("the helper program vault-pam is missing"), "\(run.errors)")
    #expect(run.errors.contains("scripts/install-pam --helper"))
    #expect(!FileManager.default.fileExists(atPath: ran))
    let found = try finding(tool, program)
    #expect(found.state == "ok" && found.message.contains("PAM cannot be asked"), "\(found)")
  }

  @Test("one beside vaultctl is found, and doctor says whether it can be trusted")
  func beside() throws {
    let (tool, program, folder) = try newTool()
    let helper = folder.appendingPathComponent("vault-pam").path
    try copy(Built.path("vault-pam"), to: helper)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: helper)
    let found = try finding(tool, program)
    #expect(found == ("ok", "PAM is asked by \(helper)", ""))
    try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: helper)
    let changed = try finding(tool, program)
    let hint = "chmod go-w '\(helper)'"
    #expect(changed == ("warning", "\(helper) can be changed by others, so PAM is not asked", hint))
    let run = try enroll(tool, program)
    #expect(run.exit == 13 && run.errors.contains("can be changed by others"), "\(run.errors)")
    #expect(run.errors.contains(hint), "\(run.errors)")
    // What the hint says is enough.
    unsafe expect(chmod(helper, 0o755), equals: 0)
    try expect(finding(tool, program).state, equals: "ok")
  }
}
