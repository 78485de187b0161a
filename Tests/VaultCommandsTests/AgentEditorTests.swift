import Foundation
import TestSupport
import Testing

/// The vault is in the agent, and the editor and its file are with the person.
///
/// Verified to fail when a signal does not cancel the call of an editor.
@Suite("Editing an entry through the agent", .bounded, .requirement("G16"))
struct AgentEditorTests {
  private static func make() throws -> AgentHome {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    home.tool.environment["VAULTCTL_AGENT"] = "required"
    let notes = try home.tool.file("notes", String(repeating: "long ", count: 40_000))
    expect(0, try home.tool("edit", "mail", "--notes-file", notes, "--no-input"))
    return home
  }

  private func editor(_ home: AgentHome, _ script: String) throws {
    home.tool.environment["EDITOR"] = try home.tool.program(
      "editor-\(UUID().uuidString)", "#!/bin/sh\n\(script)\n")
  }

  @Test("a text that is longer than a message is edited without a prompt, with the environment of the person")
  func edited() throws {
    let home = try Self.make()
    home.tool.environment["MARK"] = "marked"
    try editor(home, "sed -i \"s/^account.*/account = $MARK/; s/long/LONG/\" \"$1\"")
    expect(0, try home.tool("edit", "mail", "--editor", "--no-input"), "changed: account, notes")
    try expect(home.tool("get", "mail", "--field", "account").text, equals: "marked")
    #expect(try home.tool("get", "mail", "--field", "notes").text.hasPrefix("LONG long"))
    try editor(home, "exit 3")
    expect(5, try home.tool("edit", "mail", "--editor"), "the editor ended with 3")
  }

  @Test("files that options name are read by the person's process, and refused as without an agent")
  func files() throws {
    let home = try Self.make()
    unsafe expect(mkfifo(home.tool.home.path + "/fifo", 0o600), equals: 0)
    expect(
      12, try home.tool("edit", "mail", "--notes-file", home.tool.home.path + "/fifo"),
      "is a pipe, and no file")
    expect(0, try home.tool.run(["edit", "mail", "--field-fd", "PIN=5"], secrets: [5: "4711\n"]))
    try expect(home.tool("get", "mail", "--field", "PIN").text, equals: "4711")
    expect(0, try home.tool("rm", "mail"), "'mail' is in the trash")
    expect(0, try home.tool("undo", "mail"))
  }

  @Test(
    "a signal ends the editor, and the agent goes on", arguments: [(SIGINT, Int32(130)), (SIGTERM, -SIGTERM)])
  func signalled(signal: (number: Int32, end: Int32)) throws {
    let home = try Self.make()
    let before = try home.tool("show", "mail", "--json").text
    let ready = home.tool.home.path + "/ready"
    try editor(home, "dirname \"$1\" > '\(ready)'; exec sleep 100000")
    let running = try Child(Tool.path, ["edit", "mail", "--editor"], home.tool.environment).start()
    try waitUntil("the editor runs") {
      (try? String(contentsOfFile: ready, encoding: .utf8))?.hasSuffix("\n") == true
    }
    let folder = try String(contentsOfFile: ready, encoding: .utf8).trimmingCharacters(in: .newlines)
    #expect(FileManager.default.fileExists(atPath: folder))
    running.kill(signal.number)
    try waitUntil("the command ends") { !running.isRunning }
    try expect(running.wait(), equals: signal.end)
    #expect(!FileManager.default.fileExists(atPath: folder))
    try expect(home.tool("show", "mail", "--json").text, equals: before)
    expect(0, try home.tool("agent", "status"))
  }
}
