import Foundation
import TestSupport
import Testing

/// A person's day with the agent, by the built programs.
@Suite("The verbs of the agent", .bounded)
struct AgentVerbTests {
  @Test(
    "start, unlock once, use, lock and stop: one derivation of the passcode for all commands",
    .requirement("G1", "G6"))
  func day() throws {
    let home = try AgentHome()
    let unlocks = try home.unlocks()
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    let derivations = try home.derivations()
    for _ in 0..<5 {
      let got = try home.tool("get", "mail", "--no-input", "--agent", "required")
      expect(0, got)
      expect(got.text, equals: "tok-1")
    }
    try expect(home.derivations(), equals: derivations)
    try expect(home.unlocks(), equals: unlocks + 1)
    expect(3, try home.tool("get", "mail", "--passcode-file", home.wrong))
    let status = try home.tool("agent", "status", "--json").json
    let vault = try #require((status["vaults"] as? [[String: Any]])?.first)
    #expect(status["running"] as? Bool == true && vault["unlocked"] as? Bool == true, "\(status)")
    expect(0, try home.tool("lock"))
    expect(6, try home.tool("get", "mail", "--no-input"))
    expect(0, try home.tool("agent", "stop"))
    try waitUntil("the end of the agent") { try home.tool("agent", "status").exit == 1 }
  }

  @Test(
    "a recovery code that is given is judged also while the vault is unlocked, and ends a delay",
    .requirement("G6"))
  func recoveryCode() throws {
    let home = try AgentHome()
    let folder = home.tool.home.path
    let (code, other, vault) = (folder + "/code", folder + "/other", folder + "/other.vault")
    expect(0, try home.tool("recovery-code", "new", "--out", code, "--passcode-file", home.passcode))
    expect(0, try home.tool("init", "--no-passcode", "--vault", vault))
    expect(0, try home.tool("recovery-code", "new", "--out", other, "--vault", vault))
    try home.unlock()
    let get = ["get", "mail", "--no-input", "--agent", "required"]
    expect(12, try home.tool.run(get + ["--recovery-file", home.passcode]))
    for words in [get, ["unlock"], ["vault", "clock", "--agent", "required"]] {
      expect(3, try home.tool.run(words + ["--recovery-file", other]))
      expect(0, try home.tool.run(words + ["--recovery-file", code]))
    }
    for _ in 0..<5 { expect(3, try home.tool.run(get + ["--passcode-file", home.wrong])) }
    #expect(try home.tool.run(get + ["--passcode-file", home.passcode]).exit != 0)
    let both = ["--passcode-file", home.passcode, "--recovery-file", code]
    try expect(home.tool.run(get + both).text, equals: "tok-1")
  }

  @Test(
    "another vault than the unlocked one is another vault, with and without the agent", .requirement("G1"))
  func otherVault() throws {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    expect(14, try home.tool("ls", "--vault", "/nowhere"))
    let other = home.tool.home.path + "/other.vault"
    expect(0, try home.tool("init", "--no-passcode", "--vault", other))
    try expect(home.tool("ls", "--format", "name", "--vault", other).text, equals: "")
    try expect(home.tool("ls", "--format", "name").text, equals: "mail\n")
  }

  @Test("a reader that goes away ends the command, not the agent", .requirement("G5"))
  func lostReader() throws {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    let script = "for i in 1 2 3; do '\(Tool.path)' item list | true; done; '\(Tool.path)' agent status"
    let run = try home.tool.run(["-c", script], program: try Shell.need("bash"))
    expect(0, run)
    #expect(run.text.contains("unlocked  "), "\(run.text)")
  }

  @Test("the vault's own file as standard input does nothing to the vault", .requirement("G9"))
  func vaultAsInput() throws {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    let script = "'\(Tool.path)' item list < \"$('\(Tool.path)' vault path)\""
    expect(9, try home.tool.run(["-c", script], program: try Shell.need("bash")))
    expect(0, try home.tool("get", "mail", "--no-input"))
  }

  @Test("without an agent, the verbs that need one say so and how to start it", .requirement("G11"))
  func noAgent() throws {
    let home = try AgentHome()
    for words in [["unlock", "--no-input"], ["lock"]] {
      let run = try home.tool.run(words + ["--json"])
      expect(13, run)
      try expect(run.error["code"] as? String, equals: "noAgent")
      try expect(run.error["hint"] as? String, equals: "start it with 'vaultctl agent start'")
    }
    let status = try home.tool("agent", "status", "--json")
    expect(1, status)
    try expect(status.json["running"] as? Bool, equals: false)
    expect(0, try home.tool("agent", "stop"))
  }

  @Test(
    "no agent is started where there is no directory for its socket, or one that others can reach",
    .requirement("G7"))
  func noPlace() throws {
    let home = try AgentHome()
    try FileManager.default.createDirectory(
      atPath: home.runtime + "/vaultctl", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    unsafe chmod(home.runtime + "/vaultctl", 0o755)
    let run = try home.tool("agent", "start")
    expect(13, run, "other users can reach \(home.runtime)/vaultctl")
    expect(1, try home.tool("agent", "status"))
  }
}

/// A tool with a vault whose passcode is 1234 and that has the item "mail", and the place of an agent, which ends with this value.
final class AgentHome {
  let tool: Tool
  /// Stands for `$XDG_RUNTIME_DIR`. Its path is short, because that of a socket is.
  let runtime: String
  let passcode: String
  let wrong: String
  private let counter: String

  init() throws {
    tool = try Tool()
    runtime = "/tmp/agent-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    tool.environment["XDG_RUNTIME_DIR"] = runtime
    counter = tool.home.path + "/derivations"
    tool.environment["VAULTCTL_TESTING_DERIVATIONS"] = counter
    passcode = try tool.file("passcode", "1234")
    wrong = try tool.file("wrong", "9999")
    expect(0, try tool("init", "--passcode-file", passcode))
    expect(
      0, try tool("add", "mail", "--passcode-file", passcode, input: Array("tok-1".utf8)))
  }

  deinit {
    _ = try? tool("agent", "stop")
    try? FileManager.default.removeItem(atPath: runtime)
  }

  /// How often the log says that the vault was unlocked.
  func unlocks() throws -> Int { try tool("audit", "--json").text.split(separator: "\"unlocked\"").count - 1 }

  /// How often a key was derived, in all processes.
  func derivations() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: counter)).count }
}
