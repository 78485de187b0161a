import Foundation
import TestSupport
import Testing

/// The directories that had another name before the first release (docs/decisions/0077).
@Suite("What is still in a directory of the former name", .bounded)
struct FormerPlaceTests {
  /// A vault with an item. Its directories have a name that a shell must not split.
  private func newTool() throws -> Tool {
    let tool = try Tool()
    tool.environment["XDG_DATA_HOME"] = tool.home.path + "/it's data"
    tool.environment["XDG_STATE_HOME"] = tool.home.path + "/my state"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: Array("secret".utf8)).exit, equals: 0)
    return tool
  }

  private func data(_ tool: Tool, _ name: String) -> String { tool.home.path + "/it's data/" + name }
  private func state(_ tool: Tool, _ name: String) -> String { tool.home.path + "/my state/" + name }

  private func move(_ path: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path, toPath: other)
  }

  /// The files of the home, but for those of runs.
  private func files(_ tool: Tool) throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: tool.home.path))
  }

  /// Types the command that the one line of an error ends with.
  private func obey(_ run: Tool.Run, in tool: Tool) throws {
    let lines = run.errors.split(separator: "\n")
    expect(lines.count, equals: 1, "\(run.errors)")
    let command = try #require(lines.first?.components(separatedBy: "move it there: ").last)
    #expect(command.hasPrefix("mv "), "\(command)")
    try expect(tool.run(["-c", command], program: "/bin/sh").exit, equals: 0, "\(command)")
  }

  /// Verified to fail when only the present directory is looked at: 'init' then makes a second vault, and 'restore' as well.
  @Test("no command opens, makes or replaces a vault beside it: each says where it is, and how it is moved")
  func vault() throws {
    let tool = try newTool()
    let phrase = try tool.file("phrase", "a long phrase")
    let backup = tool.home.path + "/b.vault"
    try expect(tool("backup", backup, "--passphrase-file", phrase).exit, equals: 0)
    try move(data(tool, "vaultctl"), to: data(tool, "vault"))
    let before = try files(tool)
    for words in [
      ["init", "--no-passcode"], ["restore", backup, "--passphrase-file", phrase], ["ls"], ["vault", "path"],
      ["doctor"],
      ["add", "x"],
      ["status"], ["vault", "batch"],
    ] {
      let run = try tool.run(
        words, input: words == ["vault", "batch"] ? Array(#"{"args":["ls"]}"#.utf8) : [])
      let told = run.errors + run.text
      #expect(
        run.exit == 14 && told.contains(data(tool, "vault/default.vault")), "\(words) \(run.exit) \(told)")
      #expect(told.contains("mv "), "\(words)")
    }
    try expect(files(tool), equals: before)
    try obey(tool("ls"), in: tool)
    try expect(tool("get", "mail").text, equals: "secret")
  }

  @Test("a vault that is named is not looked for there, nor one beside which there is a present one")
  func named() throws {
    let tool = try newTool()
    try move(data(tool, "vaultctl"), to: data(tool, "vault"))
    try expect(
      tool("get", "mail", "--vault", data(tool, "vault/default.vault")).text, equals: "secret")
    tool.environment["VAULTCTL_PATH"] = tool.home.path + "/own.vault"
    try expect(14, tool("ls"), "own.vault")
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    tool.environment["VAULTCTL_PATH"] = nil
    try FileManager.default.copyItem(atPath: data(tool, "vault"), toPath: data(tool, "vaultctl"))
    try expect(tool("get", "mail").text, equals: "secret")
  }

  /// Verified to fail when the command moves the vault file without what is beside it.
  @Test(
    "into a directory that is there, the vault is moved with its journal and all that begins with its name")
  func beside() throws {
    let tool = try newTool()
    try move(data(tool, "vaultctl"), to: data(tool, "vault"))
    let names = ["default.vault-wal", "default.vault.before-restore", "other.vault"]
    for name in names { try Data().write(to: URL(fileURLWithPath: data(tool, "vault/" + name))) }
    try FileManager.default.createDirectory(atPath: data(tool, "vaultctl"), withIntermediateDirectories: true)
    try obey(tool("ls"), in: tool)
    let moved = try Set(FileManager.default.contentsOfDirectory(atPath: data(tool, "vaultctl")))
    expect(moved, equals: ["default.vault", "default.vault-wal", "default.vault.before-restore"])
  }

  /// Verified to fail when the device key there is reported as absent.
  @Test(
    "a device key there is not reported as lost: 11, and how it is moved",
    arguments: ["nothing", "other vaults", "other keys"])
  func deviceKey(present: String) throws {
    let tool = try newTool()
    let key = try #require(try tool("vault", "path", "--json").json["deviceKey"] as? String)
    let vault = (key as NSString).deletingLastPathComponent
    try move(state(tool, "vaultctl"), to: state(tool, "vault"))
    let left = present == "other keys" ? vault : state(tool, "vaultctl")
    if present != "nothing" {
      try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
    }
    let run = try tool("get", "mail")
    expect(11, run, "my state/vault/")
    #expect(!run.errors.contains("absent"), "\(run.errors)")
    try obey(run, in: tool)
    try expect(tool("get", "mail").text, equals: "secret")
    // The witness has come along.
    #expect(FileManager.default.fileExists(atPath: key + ".seen"))
  }

  /// Verified to fail when the witness there is not looked for: an old state that is put back is then not noticed.
  @Test("what is remembered there of a vault whose key is elsewhere is not passed over")
  func witness() throws {
    let tool = try newTool()
    let key = try #require(try tool("vault", "path", "--json").json["deviceKey"] as? String)
    let own = tool.home.path + "/own.key"
    try move(key, to: own)
    try move(state(tool, "vaultctl"), to: state(tool, "vault"))
    let run = try tool("get", "mail", "--device-key", own)
    expect(11, run, "what is remembered of the last commit is still at ")
    try obey(run, in: tool)
    try expect(tool("get", "mail", "--device-key", own).text, equals: "secret")
  }

  @Test(
    "a directory of that name without a vault, and one with a vault of another user's program, stop nothing")
  func foreign() throws {
    let tool = try Tool()
    for folder in [".local/share/vault", ".local/state/vault/x"] {
      try FileManager.default.createDirectory(
        at: tool.home.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("ls").exit, equals: 0)
  }
}
