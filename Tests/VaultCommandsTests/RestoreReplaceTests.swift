import Foundation
import TestSupport
import Testing

@Suite("A restore over a vault says what it drops", .bounded)
struct RestoreReplaceTests {
  /// A vault with "mail", a backup of it, and then "late" and a one-time password.
  private func filled() throws -> (tool: Tool, backup: String) {
    let tool = try Tool()
    let backup = tool.home.path + "/b.vault"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: [1, 2, 3]).exit, equals: 0)
    try expect(tool("backup", backup, "--passphrase-fd", "3", secrets: [3: "long phrase"]).exit, equals: 0)
    return (tool, backup)
  }

  private func restore(_ tool: Tool, _ words: String...) throws -> Tool.Run {
    try tool.run(["restore"] + words + ["--passphrase-fd", "3"], secrets: [3: "long phrase"])
  }

  private func contents(_ tool: Tool) throws -> [String] {
    (FileManager.default.enumerator(atPath: tool.home.path)?.compactMap { $0 as? String } ?? []).sorted()
  }

  /// Verified to fail on commit c41b4145: an error about the backup spoke of the vault, and a file that is no vault got the hint
  /// of a damaged vault.
  @Test(
    "an error names the file that it is about, and calls a backup a backup; a file that is no vault must be moved away"
  )
  func wrongFiles() throws {
    let (tool, backup) = try filled()
    let vault = try #require(try tool("vault", "path", "--json").json["path"] as? String)
    func damage(_ name: String, _ bytes: Data) throws -> String {
      let path = tool.home.path + "/" + name
      #expect(
        FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]))
      return path
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: backup))
    for (path, what, hint) in [
      (try damage("text", Data("hello".utf8)), "is not a backup file", "name"),
      (try damage("empty", Data()), "is empty", "use another backup"),
      (try damage("half", whole.prefix(20_000)), "is damaged", "use another backup"),
    ] {
      for words in [[path], [path, "--replace"], [path, "--vault", tool.home.path + "/new.vault"]] {
        let run = try tool.run(["restore", "--passphrase-fd", "3"] + words, secrets: [3: "long phrase"])
        expect(run.exit, equals: 10, "\(run.errors)")
        #expect(
          run.errors.contains("the backup \(path) \(what)") && run.errors.contains(hint), "\(run.errors)")
      }
    }
    expect(10, try restore(tool, "/dev/null"), "the backup /dev/null is empty")
    for garbage in ["", "garbage"] {
      try Data(garbage.utf8).write(to: URL(fileURLWithPath: vault))
      for words in [[backup], [backup, "--replace"]] {
        let run = try tool.run(["restore", "--passphrase-fd", "3"] + words, secrets: [3: "long phrase"])
        #expect(run.exit == 10 && run.errors.contains("move \(vault) away first"), "\(run.errors)")
      }
    }
    try FileManager.default.moveItem(atPath: vault, toPath: vault + ".away")
    try expect(restore(tool, backup).exit, equals: 0)
  }

  // U2. On b5afbda the vault is replaced, and "late" is gone unnamed. Verified to fail when `replace` is not looked at, and
  // when the states of items are not compared.
  @Test(
    "without --replace it is 9, lists what only the present vault has and what has changed, and changes nothing",
    .requirement("U2"))
  func refused() throws {
    let (tool, backup) = try filled()
    // Also when nothing would be dropped.
    let nothing = try restore(tool, backup, "--json")
    #expect(try nothing.exit == 9 && (nothing.json["wouldDrop"] as? [Any])?.isEmpty == true)
    #expect(try (nothing.json["wouldChange"] as? [Any])?.isEmpty == true)
    try expect(tool("add", "late", input: [9]).exit, equals: 0)
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try expect(tool("otp", "add", "code", input: Array(uri.utf8)).exit, equals: 0)
    try expect(tool("edit", "mail", "--password", input: [7]).exit, equals: 0)
    let before = try contents(tool)
    let run = try restore(tool, backup, "--json")
    expect(run.exit, equals: 9, "\(run.errors)")
    let dropped = try #require(try run.json["wouldDrop"] as? [[String: Any]])
    expect(dropped.map { $0["name"] as? String }, equals: ["late", "code"])
    expect(dropped.map { $0["kind"] as? String }, equals: ["password", "otp"])
    let id = try #require(try tool("show", "late", "--json").json["id"] as? String)
    expect(dropped.first?["id"] as? String, equals: id)
    #expect(try (run.error["hint"] as? String)?.contains("--replace") == true)
    let shown = try restore(tool, backup)
    #expect(shown.exit == 9 && shown.text.contains("would drop   late (password)"))
    #expect(
      shown.errors.contains("2 items that only it has would be dropped, 1 would become as in the backup"))
    #expect(shown.text.contains("would change mail (password)\n"))
    let changed = try #require(try run.json["wouldChange"] as? [[String: Any]])
    expect(changed.map { $0["name"] as? String }, equals: ["mail"])
    try expect(contents(tool), equals: before)
    #expect(try tool("get", "late").output == [9] && tool("get", "mail").output == [7])
    // A wrong passphrase lists nothing.
    let wrong = try tool("restore", backup, "--passphrase-fd", "3", secrets: [3: "wrong"])
    #expect(wrong.exit == 3 && wrong.output.isEmpty)
  }

  @Test(
    "with --replace what was dropped or changed is listed, and the old vault has it still", .requirement("U2")
  )
  func replaced() throws {
    let (tool, backup) = try filled()
    try expect(tool("add", "late", input: [9]).exit, equals: 0)
    try expect(tool("edit", "mail", "--password", input: [7]).exit, equals: 0)
    let run = try restore(tool, backup, "--replace", "--json")
    expect(run.exit, equals: 0, "\(run.errors)")
    let dropped = try #require(try run.json["dropped"] as? [[String: Any]])
    expect(dropped.map { $0["name"] as? String }, equals: ["late"])
    let changed = try #require(try run.json["changed"] as? [[String: Any]])
    expect(changed.map { $0["name"] as? String }, equals: ["mail"])
    try expect(tool("get", "mail").output, equals: [1, 2, 3])
    let aside = try #require(try run.json["oldVault"] as? String)
    try expect(tool("get", "late", "--vault", aside).output, equals: [9])
    try expect(tool("get", "mail", "--vault", aside).output, equals: [7])
    // When there is no vault, the option changes nothing.
    let other = try Tool()
    let fresh = try restore(other, backup, "--replace", "--json")
    #expect(try fresh.exit == 0 && fresh.json["dropped"] == nil && fresh.json["oldVault"] == nil)
  }
}
