import Foundation
import TestSupport
import Testing

@Suite("A recovery code that cannot be written", .bounded)
struct InitOutputTests {
  enum Output: String, CaseIterable { case full, closed }

  // Verified to fail on commit f00eb83, which speaks of "the recovery code that was printed".
  @Test(
    "init says that it could not be written, and makes neither a vault nor a key",
    arguments: Output.allCases, [false, true])
  func unwritten(output: Output, isJSON: Bool) throws {
    let tool = try Tool()
    let words = ["init", "--no-passcode", "--recovery-code"] + (isJSON ? ["--json"] : [])
    let errors = try run(tool, words, output)
    expect(errors.exit, equals: 13)
    #expect(errors.text.contains("the recovery code could not be written, and no vault was made"))
    #expect(errors.text.contains("vaultctl recovery-code new"))
    for word in ["was printed", "write the recovery code down", "what was done is done"] {
      #expect(!errors.text.contains(word), "\(errors.text)")
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: tool.home.path)
    #expect(
      !left.contains { $0.hasSuffix(".vault") || $0.hasSuffix(".key") || $0.contains(".new") }, "\(left)")
    // Nor an empty directory for the keys of a vault. Verified to fail when it stays.
    #expect(!left.contains { $0.wholeMatch(of: /.*\/[0-9a-f]{32}/) != nil }, "\(left)")
    let made = try tool.run(words)
    #expect(made.exit == 0 && made.errors.contains("write the recovery code down now") != isJSON)
  }

  @Test(
    "recovery-code new: a device is no new file (8), and a result that is not delivered says where the code is"
  )
  func another() throws {
    let tool = try Tool()
    let made = try tool("init", "--no-passcode", "--recovery-code", "--json")
    let code = try #require(try made.json["recoveryCode"] as? String)
    let device = try tool("recovery-code", "new", "--out", "/dev/full")
    #expect(device.exit == 8 && device.errors.contains("there is something already: /dev/full"))
    try expect(tool("recovery-code", "verify", "--recovery-fd", "3", secrets: [3: code]).exit, equals: 0)
    let path = tool.home.path + "/code"
    let run = try run(tool, ["recovery-code", "new", "--out", path], .full)
    #expect(run.exit == 13 && run.text.contains("what was done is done"), "\(run.text)")
    try expect(tool("recovery-code", "verify", "--recovery-file", path).exit, equals: 0)
  }

  private func run(_ tool: Tool, _ words: [String], _ output: Output) throws -> (exit: Int32, text: String) {
    var child = Child(Tool.path, words, tool.environment)
    child.open(0, "/dev/null")
    if output == .full { child.open(1, "/dev/full", flags: O_WRONLY) } else { child.close(1) }
    child.create(2, tool.home.path + "/errors")
    return (try child.start().wait(), try String(contentsOfFile: tool.home.path + "/errors", encoding: .utf8))
  }
}
