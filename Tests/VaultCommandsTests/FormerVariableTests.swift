import Foundation
import TestSupport
import Testing

/// The variables that had other names before the first release (docs/decisions/0077).
@Suite("A variable under its former name is refused", .bounded)
struct FormerVariableTests {
  static let names = ["VAULT_PATH", "VAULT_DEVICE_KEY", "VAULT_AGENT", "VAULT_PINENTRY"]

  private static func present(_ name: String) -> String { "VAULTCTL_" + name.dropFirst(6) }

  private static func refusal(_ name: String, of program: String) -> String {
    let present = present(name)
    return
      "\(program): the variable \(name) is called \(present) now: set \(present) instead, and unset \(name)\n"
  }

  /// Verified to fail when the tool does not look, when it looks only where the new variable is not set, and when one of the four is
  /// left out.
  @Test(
    "every command ends with 2 and one line, and makes nothing, also where the new one is set",
    arguments: names)
  func command(name: String) throws {
    let tool = try Tool()
    for words in [
      ["init", "--no-passcode"], ["ls"], ["version"], ["--help"], ["agent", "status"], ["x"],
    ] {
      for others in [[:], [Self.present(name): tool.home.path + "/new"]] as [[String: String]] {
        tool.environment.merge(others) { $1 }
        tool.environment[name] = tool.home.path + "/old"
        let run = try tool.run(words)
        #expect(run.exit == 2 && run.output.isEmpty, "\(words) \(run.exit)")
        expect(run.errors, equals: Self.refusal(name, of: "vaultctl"), "\(words)")
        tool.environment[Self.present(name)] = nil
      }
    }
    try expect(FileManager.default.contentsOfDirectory(atPath: tool.home.path), equals: [])
    let json = try tool("ls", "--json")
    #expect(try json.exit == 2 && json.error["code"] as? String == "usage", "\(json.errors)")
  }

  @Test("the tool that people run does the same, and one that is empty is not set", arguments: names)
  func shipped(name: String) throws {
    let tool = try Tool()
    tool.environment[name] = "x"
    let run = try tool.run(["vault", "version"], program: Tool.shippedPath)
    #expect(run.exit == 2 && run.errors == Self.refusal(name, of: "vaultctl"), "\(run.exit) \(run.errors)")
    tool.environment[name] = ""
    try expect(tool.run(["vault", "version"], program: Tool.shippedPath).exit, equals: 0)
  }

  /// Verified to fail when a value that is not UTF-8 counts as none.
  @Test("a value that is not UTF-8 is one", arguments: names)
  func bytes(name: String) throws {
    let tool = try Tool()
    let script = #"export "$1=$(printf '\377')"; exec "$0" version"#
    let run = try tool.run(["-c", script, Tool.path, name], program: "/bin/sh")
    #expect(run.exit == 2 && run.errors == Self.refusal(name, of: "vaultctl"), "\(run.exit) \(run.errors)")
  }

  /// Verified to fail when the agent does not look. It could not begin in that directory either, which is 1.
  @Test("the agent does not begin with one", arguments: ["vaultd", "vaultd-testing"], names)
  func agent(program: String, name: String) throws {
    let tool = try Tool()
    tool.environment["XDG_RUNTIME_DIR"] = "/proc/self/nothing"
    try expect(Program(Built.path(program), environment: tool.environment).run().status, equals: 1)
    tool.environment[name] = "/usr/bin/pinentry"
    let run = try Program(Built.path(program), environment: tool.environment).run()
    expect(run.status, equals: 2)
    expect(run.text, equals: Self.refusal(name, of: "vaultd"))
  }

  @Test("the manual page names them all")
  func manual() throws {
    let run = try Program("/bin/cat", [Tool.repository.path + "/docs/man/vaultd.1"]).run()
    for name in Self.names { #expect(run.text.contains(name), "\(name)") }
  }
}
