import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultWords

/// Verified to fail when an error in JSON has no `recovery`, and when `--log-level` is accepted alone.
@Suite("Recoveries and the log at the command line", .bounded)
struct RecoveryVerbTests {
  @Test(
    "every exit code has a way out", .requirement("D9"), arguments: ExitCode.all.dropFirst().map(\.rawValue))
  func exits(number: Int32) throws {
    let exit = try #require(ExitCode.all.first { $0.rawValue == number })
    let error = CommandError(exit, "it failed", hint: "do this")
    let words = ["retryable", "startOver", "nonRecoverable"]
    #expect(words.contains(error.recovery.word))
    #expect((error.recovery.condition != nil) == (error.recovery.word == "retryable"))
    if case .nonRecoverable(action: let action) = error.recovery { expect(action, equals: "do this") }
  }

  @Test("JSON says how to recover, and on what a repetition waits", .requirement("D9"))
  func json() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "right"]).exit, equals: 0)
    let absent = try tool("get", "nothing", "--json", "--passcode-fd", "3", secrets: [3: "right"])
    #expect(try absent.error["recovery"] as? String == "startOver" && absent.error["condition"] == nil)
    let asked = try tool("passcode", "change", "--json", "--no-input")
    try expect(asked.error["recovery"] as? String, equals: "retryable")
    try expect(asked.error["condition"] as? String, equals: "whenSomebodyIsThere")
    for _ in 0..<5 {
      _ = try tool(
        "passcode", "change", "--passcode-fd", "3", "--new-passcode-fd", "4", secrets: [3: "wrong", 4: "n"])
    }
    let early = try tool(
      "passcode", "change", "--json", "--passcode-fd", "3", "--new-passcode-fd", "4",
      secrets: [3: "wrong", 4: "n"])
    try expect(early.error["condition"] as? String, equals: "after")
    #expect(try (early.error["retryAfter"] as? Int ?? 0) > 0)
    let none = try tool("status", "--vault", tool.home.path + "/none.vault", "--json")
    try expect(none.error["recovery"] as? String, equals: "nonRecoverable")
    let usage = try tool("status", "surplus", "--json")
    try expect(usage.error["recovery"] as? String, equals: "startOver")
  }

  @Test("debug is off by itself, and a log changes neither output nor exit code", .requirement("D8"))
  func levels() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for (options, isDebug) in [([], false), (["--log-level", "debug"], true)] {
      let name = isDebug ? "b" : "a"
      let run = try tool.run(["add", name, "--generate", "24", "--log", "VAULT"] + options)
      #expect(run.exit == 0 && run.text.isEmpty, "\(run.errors)")
      #expect(run.errors.contains("[VAULT_STORAGE] [INFO]"))
      expect(run.errors.contains("[DEBUG]"), equals: isDebug)
      #expect(!run.errors.contains(tool.home.path))
    }
    let plain = try tool("get", "a")
    #expect(plain.errors.isEmpty)
    let logged = try tool("get", "a", "--json", "--log", "AUTH,VAULT", "--log-level", "debug")
    #expect(logged.exit == 0 && logged.text.contains("\"name\""), "\(logged.text)")
    let refused = try tool("get", "none", "--json", "--log", "VAULT")
    #expect(refused.exit == 1 && refused.errors.split(separator: "\n").last?.hasPrefix("{\"error\"") == true)
  }

  @Test(
    "what is logged is said by one option, and the others need it", .requirement("D8"),
    arguments: [
      ["--log", "HTTP"], ["--log", ""], ["--log", "AUTH,,VAULT"], ["--log-level", "debug"],
      ["--log-unmasked"],
      ["--log", "AUTH", "--log-level", "trace"], ["--log", "AUTH", "--log", "VAULT"],
    ])
  func refused(options: [String]) throws {
    let tool = try Tool()
    let run = try tool.run(["vault", "path"] + options)
    #expect(run.exit == 2 && run.output.isEmpty, "\(run.errors)")
  }
}
