import Foundation
import TestSupport
import Testing

/// Synchronization, online codes and logins with the server of `Tests/Peers`, which was written from the guide alone.
@Suite("A server at the command line", .bounded)
struct SyncVerbTests {
  private let tool: Tool
  private let peer: TestPeer
  private static let uri = Array("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)

  init() throws {
    tool = try Tool()
    peer = try TestPeer(for: tool)
    try expect(tool("init", "--no-passcode").exit, equals: 0)
  }

  /// An active credential `bank` of the user `anna` behind the PIN 8306.
  private func activate(_ options: String...) throws {
    let first = try peer.control(["add-user", "anna", "--pin-mode", "1"] + options)
    let words = ["--transport", peer.transport, "--code-fd", "3"]
    let started = try tool.run(["otp", "activate", "start", "bank"] + words, secrets: [3: first])
    expect(started.exit, equals: 0, "\(started.errors)")
    let done = try tool.run(
      ["otp", "activate", "finish", "bank", "--pin-mode", "checked", "--pin-fd", "4"] + words,
      secrets: [3: peer.control("second-code", "anna"), 4: "8306"])
    expect(done.exit, equals: 0, "\(done.errors)")
  }

  /// Runs a verb about `bank` with the PIN.
  private func run(_ words: String..., pin: String = "8306", input: String = "") throws -> Tool.Run {
    try tool.run(words + ["--pin-fd", "3", "--json"], input: Array(input.utf8), secrets: [3: pin])
  }

  private func sync(pin: String = "8306") throws -> Tool.Run {
    try run("otp", "sync", "bank", "--transport", peer.transport, pin: pin)
  }

  private func online(pin: String = "8306") throws -> Tool.Run {
    try run("code", "bank", "--online", "--transport", peer.transport, pin: pin)
  }

  private func judges(_ run: Tool.Run, data: String? = nil) throws {
    let code = try #require(try run.json["code"] as? String)
    try peer.control(["judge", "anna", code] + (data.map { ["--data", $0] } ?? []))
  }

  @Test(
    "after K codes the credential is out of step; a synchronization with the PIN ends that",
    .requirement("A9"))
  func offlineCodes() throws {
    try activate("--offline-codes", "2", "--offline-seconds", "86400")
    for _ in 0..<2 { try judges(run("code", "bank")) }
    let late = try run("code", "bank")
    #expect(late.exit == 17 && late.output.isEmpty)
    try expect(late.error["code"] as? String, equals: "outOfStep")
    #expect(try (late.error["hint"] as? String)?.contains("otp sync") == true)
    let shown = try tool("otp", "show", "bank", "--json").json
    #expect(shown["offlineCodes"] as? Int == 2 && shown["offlineSeconds"] as? Int == 86400)
    expect(shown["codesSinceSynchronization"] as? Int, equals: 2)
    try expect(sync(pin: "2749").exit, equals: 3)
    let done = try sync()
    expect(done.exit, equals: 0, "\(done.errors)")
    #expect(try done.json["state"] as? String == "active" && done.json["counter"] as? Int == 3)
    try judges(run("code", "bank"))
    #expect(try peer.complaints().isEmpty)
  }

  @Test(
    "the larger counter counts, and codes of time obey the clock of the server", .requirement("A9"),
    arguments: ["hotp", "totp", "ocra"])
  func apart(type: String) throws {
    try activate("--type", type, "--suite", "OCRA-1:HOTP-SHA1-6:C-QH64-T30S")
    if type != "totp" { try peer.control("set-counter", "anna", "50") }
    if type != "hotp" { try peer.control("clock-offset", "-4000") }
    let done = try sync()
    expect(done.exit, equals: 0, "\(done.errors)")
    #expect(try done.json["counter"] as? Int == (type == "totp" ? nil : 50))
    try expect(done.json["clockOffset"] as? Int, equals: type == "hotp" ? 0 : -4000)
    if type == "ocra" {
      try judges(run("transaction", "sign", "bank", input: "Pay"), data: "Pay")
    } else {
      try judges(run("code", "bank"))
    }
    #expect(try peer.complaints().isEmpty)
  }

  @Test("a server blocks, unblocks and disables", .requirement("A21"))
  func states() throws {
    try activate()
    try peer.control("block", "anna")
    let blocked = try sync()
    #expect(blocked.exit == 4 && blocked.output.isEmpty)
    try expect(blocked.error["code"] as? String, equals: "blocked")
    for words in [
      ["code", "bank"], ["code", "bank", "--online", "--transport", peer.transport],
    ] {
      try expect(tool.run(words + ["--pin-fd", "3"], secrets: [3: "8306"]).exit, equals: 4)
    }
    try expect(
      tool("otp", "sync", "bank", "--transport", peer.transport, "--no-input").exit, equals: 4,
      "no PIN is asked for")
    try peer.control("unblock", "anna")
    try expect(tool("otp", "sync", "bank", "--transport", peer.transport, "--no-input").exit, equals: 0)
    try judges(run("code", "bank"))
    try peer.control("disable", "anna")
    try expect(sync().exit, equals: 9)
    try expect(run("code", "bank").exit, equals: 9)
    try peer.control("unblock", "anna")
    try expect(sync().exit, equals: 9, "a new activation alone ends that")
  }

  @Test(
    "a server gets a code at once, with its question where there is a suite", .requirement("A20"),
    arguments: ["hotp", "totp", "ocra"])
  func onlineCode(type: String) throws {
    try activate("--type", type, "--suite", "OCRA-1:HOTP-SHA256-8:C-QN08", "--offline-codes", "1")
    let wrong = try online(pin: "2749")
    #expect(wrong.exit == 3 && wrong.output.isEmpty)
    let done = try online()
    expect(done.exit, equals: 0, "\(done.errors)")
    #expect(try done.json["type"] as? String == type && (done.json["code"] as? String)?.isEmpty == false)
    let server = try peer.shown("anna")
    expect(server["online"] as? [String], equals: ["code"])
    #expect(try peer.complaints().isEmpty)
  }

  @Test("a server gets a seal at once", .requirement("A20", "A17"))
  func seal() throws {
    try activate("--type", "ocra")
    let words = ["transaction", "sign", "bank", "--online", "--transport", peer.transport]
    let done = try tool.run(
      words + ["--pin-fd", "3", "--json"], input: Array("Pay 12 EUR".utf8), secrets: [3: "8306"])
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect(peer.shown("anna")["online"] as? [String], equals: ["seal"])
    try peer.control("fault", "error:CODE", "--operation", "onlineFinish")
    let refused = try tool.run(
      words + ["--pin-fd", "3", "--json"], input: Array("Pay 12 EUR".utf8), secrets: [3: "8306"])
    #expect(refused.exit == 3 && refused.output.isEmpty)
    #expect(try peer.complaints().isEmpty)
  }

  @Test(
    "a refused code is not printed; an accepted one is, also out of step (17)", .requirement("A20"),
    arguments: [
      ("error:CODE", 3, false), ("error:TIMEOUT", 7, false), ("exit1", 16, false), ("lost", 16, false),
      ("member:synchronized=false", 17, true), ("member:counter=\"x\"", 17, true),
      ("member:unixTime=5", 17, true), ("error:SYNCHROFAILED", 17, true),
    ] as [(String, Int32, Bool)])
  func outcomes(fault: String, exit: Int32, isPrinted: Bool) throws {
    try activate()
    try peer.control("fault", fault, "--operation", "onlineFinish")
    let run = try online()
    expect(run.exit, equals: exit, "\(run.errors)")
    #expect(run.output.isEmpty != isPrinted && !run.errors.isEmpty)
    try expect(tool("otp", "counter", "bank").text, equals: "1\n", "the counter stays used")
    if isPrinted {
      let again = try tool.run(
        ["code", "bank", "--online", "--transport", peer.transport, "--pin-fd", "3"],
        secrets: [3: "8306"])
      #expect(again.exit == 0 && again.text.utf8.count == 7)
    }
  }

  @Test(
    "a failing server stores nothing at a synchronization",
    arguments: [
      "half", "wrong-id", "wrong-version", "twice", "big", "exit1", "without:state",
      "member:counter=18446744073709551615",
      "member:state=\"open\"", "error:NETWORK",
    ])
  func faults(fault: String) throws {
    try activate("--type", "totp")
    let before = try tool("otp", "show", "bank", "--json").text
    try peer.control("fault", fault)
    let run = try sync()
    #expect(run.exit == 16 && run.output.isEmpty, "\(run.errors)")
    try expect(tool("otp", "show", "bank", "--json").text, equals: before)
  }

  /// Verified to fail when the tool waits for the end of the transport.
  @Test("Ctrl-C ends the request, whose server answers never, and nothing is stored")
  func interrupted() throws {
    try activate("--type", "totp")
    let before = try tool("otp", "show", "bank", "--json").text
    let pin = try tool.file("pin", "8306")
    let words = ["otp", "sync", "bank", "--transport", peer.transport, "--pin-file", pin]
    try peer.control("fault", "hang")
    let running = try Child(Tool.path, words, tool.environment).start()
    try waitUntil("the server hangs") { try peer.faults().isEmpty }
    running.kill(SIGINT)
    try waitUntil("the tool ends") { !running.isRunning }
    try expect(running.wait(), equals: 130)
    try expect(tool("otp", "show", "bank", "--json").text, equals: before)
  }

  @Test(
    "options that contradict each other, and paths that are none",
    arguments: [
      ["code", "bank", "--online"], ["code", "bank", "--transport", "/bin/true"],
      ["otp", "sync", "bank"], ["otp", "sync", "bank", "--transport", "peer"],
      ["code", "bank", "--online", "--transport", "/bin/true", "--at", "59"],
      ["code", "bank", "--online", "--transport", "/bin/true", "--next"],
      ["pin", "verify", "--transport", "/bin/true"], ["pin", "verify", "--credential", "bank"],
      ["otp", "add", "new", "--offline-codes", "0"], ["otp", "add", "new", "--offline-age", "0s"],
      ["otp", "add", "new", "--role", "verifier", "--offline-codes", "5"],
    ])
  func usage(words: [String]) throws {
    let added = try tool.run(
      ["otp", "add", "bank", "--pin-mode", "checked", "--pin-fd", "3"], input: Self.uri, secrets: [3: "8306"])
    expect(added.exit, equals: 0)
    let run = try tool.run(words + ["--no-input"], input: Self.uri)
    #expect(run.exit == 2 && run.output.isEmpty, "\(run.errors)")
  }

  @Test("limits of a credential without a server", .requirement("A9"))
  func alone() throws {
    let added = try tool.run(
      ["otp", "add", "x", "--offline-codes", "1", "--offline-age", "30d"], input: Self.uri)
    expect(added.exit, equals: 0, "\(added.errors)")
    try expect(tool("code", "x").text, equals: "755224\n")
    let late = try tool("code", "x", "--json")
    #expect(try late.exit == 17 && (late.error["hint"] as? String)?.contains("otp counter") == true)
    try expect(tool("otp", "sync", "x", "--transport", peer.transport).exit, equals: 9)
    try expect(tool("otp", "counter", "x", "--set", "1").exit, equals: 0)
    try expect(tool("code", "x").text, equals: "287082\n")
    let signer = try tool.run(
      [
        "otp", "add", "y", "--suite", "OCRA-1:HOTP-SHA256-8:QH64", "--secret-format", "raw",
        "--offline-codes", "1",
      ],
      input: Array("12345678901234567890".utf8))
    expect(signer.exit, equals: 0)
    try expect(tool("transaction", "sign", "y", input: Array("a".utf8)).exit, equals: 0)
    try expect(tool("transaction", "sign", "y", input: Array("a".utf8)).exit, equals: 17)
  }

  @Test("a login has a name: the number of its entry, or the server's", .requirement("B9", "B12"))
  func login() throws {
    try activate("--type", "ocra")
    let wrong = try run("pin", "verify", pin: "2749")
    #expect(try wrong.exit == 3 && wrong.error["attemptsLeft"] as? Int == 9)
    let alone = try run("pin", "verify", "--data", input: "abc")
    expect(alone.exit, equals: 0, "\(alone.errors)")
    #expect(try alone.json["verified"] as? Bool == true && alone.json["attemptsLeft"] as? Int == 10)
    let name = try #require(try alone.json["login"] as? String)
    let entries = try #require(try tool("audit", "--json").json["items"] as? [[String: Any]])
    let entry = try #require(entries.first { ($0["sequence"] as? Int).map(String.init) == name })
    expect(entry["operation"] as? String, equals: "login")
    #expect((entry["detail"] as? String)?.hasPrefix("ba7816bf") == true)
    let there = try run(
      "pin", "verify", "--data", "--transport", peer.transport, "--credential", "bank", input: "nonce")
    expect(there.exit, equals: 0, "\(there.errors)")
    let logins = try #require(try peer.shown("anna")["logins"] as? [[String: String]])
    try expect(logins.map { $0["login"] }, equals: [there.json["login"] as? String])
    #expect(logins.first?["type"] == "pin" && logins.first?["dataHex"] == "6e6f6e6365")
    let bare = try run("pin", "verify", "--transport", peer.transport, "--credential", "bank")
    expect(bare.exit, equals: 12, "a suite needs data")
    try expect(run("pin", "verify", "--biometry").exit, equals: 9, "there is no biokey")
    #expect(try peer.complaints().isEmpty)
  }
}
