import Foundation
import TestSupport
import Testing

/// Verified to fail when the policy of `edit --audit` is not passed on, when `--since` takes only later entries,
/// and when `--follow` begins after the present entries.
@Suite("The audit at the command line", .bounded)
struct AuditVerbTests {
  private func operations(_ tool: Tool, _ words: String...) throws -> [String] {
    let items = try #require(try tool.run(["audit", "--json"] + words).json["items"] as? [[String: Any]])
    return items.compactMap { $0["operation"] as? String }
  }

  @Test(
    "an item can be told to log plain reads, and to stop again; what is bound to its policy stays readable")
  func policy() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: [7]).exit, equals: 0)
    try expect(tool("get", "mail").output, equals: [7])
    try expect(operations(tool), equals: ["vaultCreated", "itemAdded"])
    try expect(tool("edit", "mail", "--audit", "all").exit, equals: 0)
    try expect(tool("show", "mail", "--json").json["audit"] as? String, equals: "all")
    try expect(tool("get", "mail").output, equals: [7])
    try expect(operations(tool).last, equals: "itemRead")
    try expect(tool("edit", "mail", "--audit", "changes").exit, equals: 0)
    try expect(tool("get", "mail").output, equals: [7])
    try expect(operations(tool).last, equals: "itemUpdated")
    #expect(try tool("audit", "--check", "--json").json["sound"] as? Bool == true)
  }

  @Test("--since takes entries from that second on, --item those of one item, also of one that is gone")
  func filters() throws {
    let tool = try Tool()
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1900000000"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1900000100"
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    try expect(tool("add", "b", input: [1]).exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1900000200"
    try expect(tool("rm", "a").exit, equals: 0)
    try expect(operations(tool, "--since", "1900000100"), equals: ["itemAdded", "itemAdded", "itemTrashed"])
    try expect(operations(tool, "--since", "1900000101"), equals: ["itemTrashed"])
    try expect(operations(tool, "--since", "2030-03-17T17:50:00Z"), equals: ["itemTrashed"])
    try expect(operations(tool, "--item", "a"), equals: ["itemAdded", "itemTrashed"])
    try expect(operations(tool, "--item", "b"), equals: ["itemAdded"])
    try expect(tool("audit", "--item", "nobody").exit, equals: 1)
  }

  @Test(
    "--follow shows what is there, then what comes from another process, one object a line, until it is ended"
  )
  func follow() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    var child = Child(Tool.path, ["audit", "--follow", "--json"], tool.environment)
    child.create(1, tool.home.path + "/output")
    child.create(2, tool.home.path + "/errors")
    let running = try child.start()
    func lines() throws -> [String] {
      try String(contentsOfFile: tool.home.path + "/output", encoding: .utf8).split(separator: "\n").map(
        String.init)
    }
    func wait(_ count: Int) throws { try waitUntil("entry \(count) is shown") { try lines().count >= count } }
    try wait(1)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    try wait(2)
    try expect(tool("rm", "a").exit, equals: 0)
    try wait(3)
    running.kill(SIGINT)
    try expect(running.wait(), equals: 130)
    let entries = try lines().map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    expect(entries.map { $0["operation"] as? String }, equals: ["vaultCreated", "itemAdded", "itemTrashed"])
    expect(entries.map { $0["sequence"] as? Int }, equals: [1, 2, 3])
  }
}
