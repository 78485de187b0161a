import Foundation
import TestSupport
import Testing

/// Verified to fail with the tool from before these tests: it called everything sound when it had opened 1 of 2 secrets.
@Suite("vaultctl vault check", .bounded, .requirement("U3"))
struct VerifyVerbTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    try expect(tool("add", "open", "--accessible", "after-first-unlock", input: [1]).exit, equals: 0)
    try expect(add(tool, "shut").exit, equals: 0)
    return tool
  }

  private func add(_ tool: Tool, _ name: String, _ words: String...) throws -> Tool.Run {
    try tool.run(["add", name, "--passcode-fd", "3"] + words, input: [1], secrets: [3: "pass"])
  }

  private func verify(_ tool: Tool, _ words: String..., passcode: String? = nil) throws -> Tool.Run {
    let given = passcode == nil ? [] : ["--passcode-fd", "3"]
    return try tool.run(["vault", "check"] + given + words, secrets: [3: passcode ?? ""])
  }

  @Test("without the passcode it says what it did not look at, and calls only the rest sound")
  func locked() throws {
    let tool = try newTool()
    let run = try verify(tool)
    let hint = "give --passcode-fd N or --passcode-file PATH"
    expect(run.exit, equals: 0)
    expect(
      run.text.split(separator: "\n").suffix(3),
      equals: [
        "not looked at: 1 secret that the passcode guards; \(hint)",
        "not looked at: the chain of the audit; \(hint)", "what was looked at is sound",
      ])
    let json = try verify(tool, "--json").json
    #expect(json["complete"] as? Bool == false && json["sound"] as? Bool == true)
    #expect(json["secrets"] as? Int == 1 && json["lockedSecrets"] as? Int == 1)
    #expect(json["guardedSecrets"] as? Int == 0 && json["auditChainChecked"] as? Bool == false)
  }

  @Test("--complete exits with 6 when something was not looked at, and with 0 when all was")
  func complete() throws {
    let tool = try newTool()
    let run = try verify(tool, "--complete")
    #expect(run.exit == 6 && run.errors.contains("not everything was looked at"), "\(run.errors)")
    #expect(run.errors.contains("--passcode-fd") && run.text.contains("what was looked at is sound"))
    let json = try verify(tool, "--complete", "--json")
    #expect(try json.exit == 6 && json.error["code"] as? String == "incomplete")
    #expect(try json.json["complete"] as? Bool == false)
    let all = try verify(tool, "--complete", passcode: "pass")
    #expect(all.exit == 0 && all.text.hasSuffix("\neverything is sound\n"), "\(all.text)")
    #expect(!all.text.contains("not looked at"))
    #expect(try verify(tool, "--json", passcode: "pass").json["complete"] as? Bool == true)
    try expect(verify(tool, "--complete", passcode: "wrong").exit, equals: 3)
  }

  @Test("secrets behind access rules are never opened, and it says so")
  func guarded() throws {
    let tool = try newTool()
    try expect(add(tool, "asks", "--access", "passcode").exit, equals: 0)
    let run = try verify(tool, passcode: "pass")
    #expect(run.exit == 0 && run.text.contains("\nnot looked at: 1 secret behind an access rule;"))
    #expect(run.text.hasSuffix("\nwhat was looked at is sound\n"), "\(run.text)")
    let json = try verify(tool, "--json", passcode: "pass").json
    #expect(json["guardedSecrets"] as? Int == 1 && json["lockedSecrets"] as? Int == 0)
    #expect(json["complete"] as? Bool == false && json["secrets"] as? Int == 2)
    let strict = try verify(tool, "--complete", passcode: "pass")
    #expect(strict.exit == 6 && strict.errors.contains("vaultctl get"), "\(strict.errors)")
  }
}
