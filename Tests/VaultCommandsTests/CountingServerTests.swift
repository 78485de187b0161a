import Foundation
import TestSupport
import Testing

/// A server that counts, and that is not ours: pam_oath with a look-ahead of ten counters, asked through libpam.
///
/// Only the server judges a camouflaged PIN, so these tests are about what a server sees.
@Suite("Codes at a counting server", .bounded, .serialized)
struct CountingServerTests {
  private let tool: Tool
  private let server: OathServer

  init() throws {
    tool = try Tool()
    server = try OathServer(key: Self.key, tool)
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let added = try tool(
      "otp", "add", "login", "--pin-mode", "camouflaged", "--pin-fd", "3",
      input: Array("otpauth://hotp/login?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP&digits=8&counter=0".utf8),
      secrets: [3: "8306"])
    expect(added.exit, equals: 0, "\(added.errors)")
  }

  @Test("a hundred codes of the right PIN let the user in", .requirement("A10"))
  func rightPIN() throws {
    let codes = try (0..<100).map { _ in try code("8306") }
    try expect(server.answers(codes), equals: [String](repeating: "yes", count: 100))
  }

  @Test(
    "wrong PINs are refused there and look the same here; at the server's counter the right PIN is let in again",
    .requirement("B10"))
  func wrongPIN() throws {
    try expect(server.answers([code("8306")]), equals: ["yes"])
    let wrong = try (0..<20).map { try run(String(2749 + 31 * $0)) }
    let said = wrong.map { $0.errors.filter { !$0.isNumber } }
    #expect(
      Set(said.prefix(3)) == [""] && Set(said.dropFirst(3)).count == 1,
      "nothing, then one line but for a number")
    #expect(wrong.allSatisfy { $0.exit == 0 && $0.text.utf8.count == 9 })
    // One in ten million wrong codes of eight digits is one of those that the server looks for.
    let answers = try server.answers(wrong.map { $0.text.trimmingCharacters(in: .newlines) })
    expect(answers.count { $0 == "yes" }, equals: 0)
    // The tool is 20 counters ahead of the server by now, which looks only ten ahead.
    try expect(server.answers([code("8306")]), equals: ["no"])
    let set = try tool("otp", "counter", "login", "--set", String(try server.counter()), "--force")
    expect(set.exit, equals: 0, "\(set.errors)")
    try expect(server.answers([code("8306"), code("8306")]), equals: ["yes", "yes"])
  }

  @Test("a changed PIN gives the server's codes, and so does the old one after the change was undone")
  func change() throws {
    let changed = try tool(
      "pin", "change", "pin-camouflaged", "--pin-fd", "3", "--new-pin-fd", "4",
      secrets: [3: "8306", 4: "274950"])
    expect(changed.exit, equals: 0, "\(changed.errors)")
    try expect(server.answers([code("8306"), code("274950")]), equals: ["no", "yes"])
    try expect(tool("pin", "undo", "pin-camouflaged").exit, equals: 0)
    try expect(server.answers([code("274950"), code("8306")]), equals: ["no", "yes"])
  }

  private func run(_ pin: String) throws -> Tool.Run {
    try tool("code", "login", "--pin-fd", "3", secrets: [3: pin])
  }

  private func code(_ pin: String) throws -> String {
    let run = try run(pin)
    expect(run.exit, equals: 0, "\(run.errors)")
    return run.text.trimmingCharacters(in: .newlines)
  }

  /// 20 bytes that are no text.
  private static let key = "9f3b0cd1e4827716a05bfe3309c4d8127ae6614f"
}

/// `oath_server.py`, with a file of users of its own.
private struct OathServer {
  private let tool: Tool
  private let users: String
  private let service: String

  init(key: String, _ tool: Tool) throws {
    let folders = ["/usr/lib", "/lib"].flatMap { root in
      ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).map { "\(root)/\($0)/security" }
    }
    let module = try #require(
      folders.map { $0 + "/pam_oath.so" }.first { FileManager.default.fileExists(atPath: $0) },
      "pam_oath is not installed: scripts/install-deps")
    self.tool = tool
    users = try tool.file("users.oath", "HOTP anna - \(key)\n")
    let folder = tool.home.appendingPathComponent("services")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let line = "auth requisite \(module) usersfile=\(users) window=10 digits=8\n"
    try Data(line.utf8).write(to: folder.appendingPathComponent("vault-oath"))
    service = folder.path
  }

  /// "yes" or "no" for each code.
  func answers(_ codes: [String]) throws -> [String] {
    let script = Tool.repository.appendingPathComponent("Tests/CountingServer/oath_server.py").path
    let input = try tool.file("codes", codes.joined(separator: "\n") + "\n")
    let run = try Program(
      "env",
      [
        "LD_PRELOAD=libpam_wrapper.so", "PAM_WRAPPER=1", "PAM_WRAPPER_SERVICE_DIR=\(service)", "python3",
        script,
        "vault-oath", "anna",
      ]
    ).run(input: FileHandle(forReadingAtPath: input), errors: .discarded)
    try #require(run.status == 0, "\(run.text)")
    return run.text.split(separator: "\n").map(String.init)
  }

  /// The counter that the server expects next.
  func counter() throws -> Int {
    let fields = try String(contentsOfFile: users, encoding: .utf8).split(separator: "\t")
    return try #require(Int(fields[4].trimmingCharacters(in: .whitespacesAndNewlines))) + 1
  }
}
