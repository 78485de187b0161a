import Foundation
import TestSupport
import Testing

/// What a program that can only call `vaultctl` can do to a locked vault (docs/security/invariants.md).
@Suite("A locked vault at the command line", .bounded, .requirement("R24"))
struct PasscodeGuardVerbTests {
  private let tool: Tool
  private static let uri = Array(
    "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)

  init() throws {
    tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    for (name, accessible) in [("guarded", "when-unlocked"), ("open", "after-first-unlock")] {
      let more = ["--accessible", accessible, "--passcode-fd", "3"]
      for (words, input) in [
        (["add", name], [1, 2, 3]), (["otp", "add", name + "-code"], Self.uri),
        (["key", "generate", name + "-key", "--type", "ed25519"], []),
      ] {
        let run = try tool.run(words + more, input: input, secrets: [3: "pass"])
        expect(run.exit, equals: 0, "\(words): \(run.errors)")
      }
    }
    let enrolled = try tool(
      "biometry", "enroll", "voice", "--phrase-fd", "4", "--passcode-fd", "3",
      secrets: [3: "pass", 4: "my voice"])
    expect(enrolled.exit, equals: 0, "\(enrolled.errors)")
  }

  private func unlocked(_ words: String...) throws -> Tool.Run {
    try tool.run(words + ["--passcode-fd", "3"], secrets: [3: "pass"])
  }

  /// The items that the passcode guards, each as the words of its line.
  private func guardedItems() throws -> [[Substring]] {
    try tool("ls").text.split(separator: "\n").filter { $0.hasPrefix("guarded") }.map {
      $0.split(separator: " ")
    }
  }

  /// Verified to fail when a deletion does not ask the gate, and when the expiry counts as a remark.
  @Test("deleting, renaming, redirecting and setting counters need the passcode, but for after first unlock")
  func guarded() throws {
    let before = try guardedItems()
    for (pattern, name) in [
      (["edit", "NAME", "--service", "https://other.example"], "guarded"),
      (["edit", "NAME", "--account", "eve"], "guarded"),
      (["edit", "NAME", "--expires", "1h"], "guarded"),
      (["otp", "counter", "NAME", "--set", "900"], "guarded-code"), (["otp", "rm", "NAME"], "guarded-code"),
      (["key", "rm", "NAME"], "guarded-key"), (["mv", "NAME", "NAME-2"], "guarded"),
      (["rm", "NAME"], "guarded"),
    ] {
      func words(_ name: String) -> [String] { pattern.map { $0.replacing("NAME", with: name) } }
      let locked = try tool.run(words(name) + ["--no-input"])
      #expect(locked.exit == 6 && locked.errors.contains("--passcode-fd"), "\(words(name)): \(locked.errors)")
      try expect(guardedItems(), equals: before)
      let other = name.replacing("guarded", with: "open")
      let open = try tool.run(words(other) + ["--no-input"])
      expect(open.exit, equals: 0, "\(words(other)): \(open.errors)")
      if pattern[0] == "mv" { try expect(tool("mv", "open-2", "open").exit, equals: 0) }
    }
    try expect(tool("edit", "guarded", "--label", "a label", "--comment", "b").exit, equals: 0)
    try expect(unlocked("rm", "guarded").exit, equals: 0)
    try expect(unlocked("otp", "counter", "guarded-code", "--set", "900").exit, equals: 0)
  }

  /// Verified to fail when the verb does not look for items that would be lost.
  @Test("a member is removed from a locked vault, unless items would be lost with it")
  func member() throws {
    let add = try tool.run(
      ["add", "bound", "--access", "biometry-current-set", "--passcode-fd", "3"], input: [1],
      secrets: [3: "pass"])
    expect(add.exit, equals: 0, "\(add.errors)")
    try expect(tool("biometry", "remove", "voice", "--no-input").exit, equals: 6)
    try expect(unlocked("rm", "--now", "bound").exit, equals: 0)
    try expect(tool("biometry", "remove", "voice", "--no-input").exit, equals: 0)
  }

  /// AT1: neither `backup` nor `restore` gives a program that can only call them further attempts.
  ///
  /// Verified to fail when `backup` does not unlock the vault, and when `restore` asks for the passphrase alone.
  @Test("a backup and a restore over the vault need the passcode")
  func transfer() throws {
    let backup = tool.home.path + "/b.vault"
    let words = ["backup", backup, "--passphrase-fd", "4", "--no-input"]
    let locked = try tool.run(words, secrets: [4: "mine"])
    #expect(locked.exit == 6 && !FileManager.default.fileExists(atPath: backup), "\(locked.errors)")
    let made = try tool.run(words + ["--passcode-fd", "3"], secrets: [3: "pass", 4: "mine"])
    expect(made.exit, equals: 0, "\(made.errors)")
    let over = ["restore", backup, "--replace", "--passphrase-fd", "4", "--no-input"]
    let refused = try tool.run(over, secrets: [4: "mine"])
    #expect(refused.exit == 6 && refused.errors.contains("--passcode-fd"), "\(refused.errors)")
    let wrong = try tool.run(over + ["--passcode-fd", "3"], secrets: [3: "wrong", 4: "mine"])
    #expect(wrong.exit == 3 && wrong.errors.contains("4 attempts left"), "\(wrong.errors)")
    try expect(tool("show", "guarded").exit, equals: 0)
    let done = try tool.run(over + ["--passcode-fd", "3", "--json"], secrets: [3: "pass", 4: "mine"])
    #expect(try done.exit == 0 && done.json["passcodeDelay"] == nil, "\(done.errors)")
    let phrase = try tool.run(["get", "guarded", "--passcode-fd", "3"], secrets: [3: "pass"])
    expect(phrase.exit, equals: 0, "\(phrase.errors)")
  }
}
