import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

/// Verified to fail when a missing vault is "that path", when an unknown option is "that", and when an argument too
/// many has no command, as on commit b5afbda.
@Suite("Errors name their subject", .bounded, .requirement("U8"))
struct SubjectTests {
  @Test("a vault that is not there, is in the way or cannot be used is named by its path")
  func paths() throws {
    let tool = try Tool()
    let folder = tool.home.path
    let missing = folder + "/missing.vault"
    let run = try tool("status", "--vault", missing)
    #expect(run.exit == 14 && run.errors.contains(missing), "\(run.errors)")
    let taken = folder + "/taken"
    try Data([1]).write(to: URL(fileURLWithPath: taken))
    let made = try tool("init", "--no-passcode", "--vault", taken)
    #expect(made.exit == 8 && made.errors.contains(taken), "\(made.errors)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: taken)
    let damaged = try tool("status", "--vault", taken)
    #expect(damaged.exit == 10 && damaged.errors.contains(taken), "\(damaged.errors)")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: taken)
    let open = try tool("status", "--vault", taken)
    #expect(open.exit == 13 && open.errors.contains("chmod 600 \(taken)"), "\(open.errors)")
    let file = folder + "/passcode"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let secret = try tool("passcode", "set", "--new-passcode-file", file)
    #expect(secret.exit == 13 && secret.errors.contains(file), "\(secret.errors)")
  }

  @Test("an option that a command does not have is named with the command")
  func options() throws {
    let message = try message(["get", "x", "--frobnicate=secret"])
    #expect(message.contains("--frobnicate") && message.contains("'vaultctl get'"), "\(message)")
    #expect(!message.contains("secret"))
    #expect(try self.message(["--frobnicate"]).contains("--frobnicate"))
  }

  @Test("an argument too many is named by its place and its command, and never repeated")
  func arguments() throws {
    let message = try message(["get", "x", "notes", "hunter"])
    #expect(message.contains("argument 4") && message.contains("'vaultctl get'"), "\(message)")
    #expect(!message.contains("hunter"))
    // A text that only looks like an option may be a pasted secret.
    for word in ["--Hunter2", "--9hunter", "--h!nter", "-hunter", "--\(String(repeating: "x", count: 40))"] {
      #expect(try !self.message(["get", "x", word]).contains(word), "\(word)")
    }
  }

  @Test("a key of JSON is named, and a value never")
  func keys() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let lines = [
      (#"{"kind":"password","name":"n","sekret":"hunter"}"#, "sekret"),
      (#"{"kind":"password","name":"n","name":"hunter"}"#, "name"),
      (#"{"kind":"password","name":"n","expires":"hunter"}"#, "expires"),
      (#"{"kind":"password","name":"n","thisDeviceOnly":hunter}"#, "thisDeviceOnly"),
    ]
    for (line, key) in lines {
      let run = try tool("import", "jsonl", input: Array(line.utf8))
      #expect(run.exit == 12 && run.errors.contains("\"\(key)\""), "\(run.exit) \(run.errors)")
      #expect(!run.errors.contains("hunter"))
    }
    let batch = try tool("vault", "batch", input: Array(#"{"argz":["hunter"]}"#.utf8))
    #expect(batch.exit == 12 && batch.errors.contains("\"argz\""), "\(batch.exit) \(batch.errors)")
    #expect(!batch.errors.contains("hunter"))
  }

  /// Message and hint of a line that is refused.
  private func message(_ words: [String]) throws -> String {
    do {
      _ = try Parser.parse(words, of: VerbTable.program)
      Issue.record("\(words) is taken")
      return ""
    } catch {
      expect(error.exit, equals: .usage)
      return error.message + " " + (error.hint ?? "")
    }
  }
}
