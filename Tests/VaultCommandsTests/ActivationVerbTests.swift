import Foundation
import TestSupport
import Testing

/// The verbs of activations and unlocks with the server of `Tests/Peers`, which was written from the guide alone.
@Suite("Activations at the command line", .bounded)
struct ActivationVerbTests {
  private let tool: Tool
  private let peer: TestPeer

  init() throws {
    tool = try Tool()
    peer = try TestPeer(for: tool)
    try expect(tool("init", "--no-passcode").exit, equals: 0)
  }

  private func start(_ code: String, _ more: String...) throws -> Tool.Run {
    try tool.run(
      ["otp", "activate", "start", "bank", "--transport", peer.transport, "--code-fd", "3", "--json"] + more,
      secrets: [3: code])
  }

  private func finish(_ code: String, _ more: String...) throws -> Tool.Run {
    try tool.run(
      ["otp", "activate", "finish", "bank", "--transport", peer.transport, "--code-fd", "3", "--json"] + more,
      secrets: [3: code, 4: "8306"])
  }

  private func status() throws -> String? {
    try tool("otp", "activate", "status", "bank", "--json").json["state"] as? String
  }

  private func code(_ pin: String = "8306") throws -> Tool.Run {
    try tool("code", "bank", "--pin-fd", "3", "--json", secrets: [3: pin])
  }

  /// An active credential behind the PIN 8306 that is made for it.
  private func activate() throws {
    let first = try peer.control("add-user", "anna", "--pin-mode", "9")
    try expect(start(first).exit, equals: 0)
    let done = try finish(peer.control("second-code", "anna"), "--pin-mode", "checked", "--pin-fd", "4")
    expect(done.exit, equals: 0, "\(done.errors)")
  }

  private func other(than code: String) -> String {
    String(code.map { $0 == "0" ? "1" : "0" })
  }

  /// Blocks the PIN with ten wrong ones.
  private func block() throws {
    for left in (0..<10).reversed() {
      try expect(code("2749").error["attemptsLeft"] as? Int, equals: left)
    }
  }

  @Test("two codes and a PIN make a credential whose codes the server accepts", .requirement("A1", "B1"))
  func life() throws {
    let first = try peer.control(
      "add-user", "anna", "--pin-mode", "1", "--device-credential", "--issuer", "Bank", "--account", "anna")
    let started = try start(first, "--service", "pay")
    expect(started.exit, equals: 0, "\(started.errors)")
    try expect(started.json["state"] as? String, equals: "started")
    try expectHelp(of: ["otp", "activate", "start"], toName: started.json)
    try expect(started.json["secondsLeft"] as? Int, equals: 300)
    try expect(status(), equals: "started")
    for words in [["code", "bank"], ["otp", "export", "bank"]] {
      let run = try tool.run(words + ["--json"])
      expect(run.exit, equals: 9, "\(words): \(run.errors)")
      try expect(run.error["code"] as? String, equals: "wrongState")
      #expect(try (run.error["hint"] as? String)?.contains("otp activate finish") == true)
    }
    try expect(tool("otp", "show", "bank", "--json").json["type"] as? String, equals: "activation")
    try expect(tool("otp", "list", "--json").exit, equals: 0)
    let export = try tool("export", "jsonl", tool.home.path + "/out.jsonl", "--plain")
    #expect(export.exit == 0 && export.errors.contains("left out 'bank' (activation)"), "\(export.errors)")
    let needsPIN = try finish("1")
    expect(needsPIN.exit, equals: 9, "the mode of the server wants a PIN")
    #expect(
      try (needsPIN.error["hint"] as? String)?.contains("--pin, or have one made with --pin-mode") == true)
    let done = try finish(peer.control("second-code", "anna"), "--pin-mode", "checked", "--pin-fd", "4")
    expect(done.exit, equals: 0, "\(done.errors)")
    #expect(try done.json["state"] as? String == "active" && done.json["type"] as? String == "hotp")
    try expect(done.json["deviceCredential"] as? String, equals: "bank-device")
    try expectHelp(of: ["otp", "activate", "finish"], toName: done.json)
    try expectHelp(
      of: ["otp", "activate", "status"], toName: tool("otp", "activate", "status", "bank", "--json").json)
    try expect(finish("1", "--pin", "pin", "--pin-fd", "4").exit, equals: 3, "it is finished")
    let made = try #require(try code().json["code"] as? String)
    try peer.control("judge", "anna", made)
    let device = try tool("code", "bank-device", "--json").json["code"] as? String
    try peer.control("judge", "anna", try #require(device), "--device")
    #expect(try peer.complaints().isEmpty)
  }

  @Test("a wrong second code ends the activation, and a wrong first code begins none", .requirement("A2"))
  func wrongCodes() throws {
    let first = try peer.control("add-user", "anna")
    try expect(start("000000000000").exit, equals: 3)
    try expect(start("no digits").exit, equals: 12)
    try expect(tool("otp", "activate", "status", "bank").exit, equals: 1)
    try expect(start(first).exit, equals: 0)
    let wrong = try other(than: peer.control("second-code", "anna"))
    try expect(finish(wrong).exit, equals: 3)
    try expect(tool("otp", "activate", "status", "bank").exit, equals: 1)
    try expect(finish(wrong).exit, equals: 1)
  }

  /// Verified to fail when the transport is looked for before the name.
  @Test("without --transport it is wrong usage, and another transport is refused without a passcode")
  func transports() throws {
    let first = try peer.control("add-user", "anna")
    for words in [
      ["otp", "activate", "start", "bank"], ["otp", "activate", "start", "bank", "--transport", "peer"],
      ["otp", "activate"], ["pin", "unlock", "--start"],
    ] { try expect(tool.run(words).exit, equals: 2, "\(words)") }
    let named = [["otp", "activate", "finish", "bank"], ["otp", "activate", "disable", "bank"]]
    for words in named { try expect(tool.run(words).exit, equals: 1, "\(words)") }
    for words in [["pin", "unlock", "bank"], ["pin", "unlock", "--credential", "bank"]] {
      try expect(tool.run(words + ["--transport", "/absent"]).exit, equals: 1, "\(words)")
    }
    try expect(start(first).exit, equals: 0)
    for words in named { try expect(tool.run(words).exit, equals: 2, "\(words)") }
    let other = try TestPeer(for: tool, named: "other")
    let run = try tool(
      "otp", "activate", "finish", "bank", "--transport", other.transport, "--code-fd", "3",
      secrets: [3: "1"])
    #expect(run.exit == 9 && run.errors.contains("another transport"), "\(run.errors)")
    try expect(status(), equals: "started")
  }

  @Test("an answer that is none is 16, and the activation can still be finished", .requirement("A2"))
  func badAnswers() throws {
    let first = try peer.control("add-user", "anna")
    for fault in ["wrong-id", "half", "exit1", "without:secretBase64", "member:lifeSeconds=0"] {
      try peer.control("fault", fault)
      try expect(start(first).exit, equals: 16, "\(fault)")
      try expect(tool("otp", "activate", "status", "bank").exit, equals: 1)
    }
    try expect(start(first).exit, equals: 0)
    let second = try peer.control("second-code", "anna")
    for fault in ["exit1", "error:FORBIDDEN"] {
      try peer.control("fault", fault)
      #expect(try [9, 16].contains(finish(second).exit), "\(fault)")
      try expect(status(), equals: "started")
    }
    try expect(finish(second).exit, equals: 0)
  }

  @Test("the server's code and the current PIN end a block", .requirement("A8"))
  func unlock() throws {
    try activate()
    try block()
    #expect(try status() == "blocked" && code().exit == 4)
    let unlock = ["pin", "unlock", "--transport", peer.transport, "--json"]
    let started = try tool.run(unlock + ["--start"])
    expect(started.exit, equals: 0, "\(started.errors)")
    try expect(started.json["state"] as? String, equals: "unlockStarted")
    #expect(try started.json["needsNewPIN"] as? Bool == false)
    let noCode = try tool.run(unlock + ["--no-input"])
    #expect(noCode.exit == 6 && noCode.errors.contains("--code-fd"), "\(noCode.errors)")
    let right = try peer.control("unlock-code", "anna")
    let wrong = try tool.run(
      unlock + ["--code-fd", "3", "--pin-fd", "4"], secrets: [3: other(than: right), 4: "8306"])
    expect(wrong.exit, equals: 3)
    try expect(wrong.error["attemptsLeft"] as? Int, equals: 4)
    let done = try tool.run(unlock + ["--code-fd", "3", "--pin-fd", "4"], secrets: [3: right, 4: "8306"])
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect(done.json["state"] as? String, equals: "active")
    try expect(tool("pin", "status", "pin", "--json").json["attemptsLeft"] as? Int, equals: 10)
    try expect(code().exit, equals: 0)
    try expect(tool.run(unlock + ["--start"]).exit, equals: 9, "nothing is blocked")
  }

  @Test("five wrong codes refuse the unlock for good", .requirement("A8"))
  func fiveCodes() throws {
    try activate()
    try block()
    let unlock = ["pin", "unlock", "--transport", peer.transport, "--credential", "bank", "--json"]
    try expect(tool.run(unlock + ["--start"]).exit, equals: 0)
    let right = try peer.control("unlock-code", "anna")
    let exits = try (0..<6).map { _ in
      try tool.run(
        unlock + ["--code-fd", "3", "--pin-fd", "4"], secrets: [3: other(than: right), 4: "8306"]
      ).exit
    }
    #expect(exits.prefix(5) == [3, 3, 3, 3, 4] && exits[5] != 0, "\(exits)")
    let late = try tool.run(unlock + ["--code-fd", "3", "--pin-fd", "4"], secrets: [3: right, 4: "8306"])
    #expect(late.exit == 4 || late.exit == 9, "\(late.errors)")
    try peer.control("new-unlock", "anna")
    try expect(tool.run(unlock + ["--start"]).exit, equals: 0)
    let next = try peer.control("unlock-code", "anna")
    let done = try tool.run(unlock + ["--code-fd", "3", "--pin-fd", "4"], secrets: [3: next, 4: "8306"])
    expect(done.exit, equals: 0, "\(done.errors)")
  }

  @Test(
    "the server's code and a new PIN end a block, by the unlock key that the server keeps", .requirement("A8")
  )
  func newPIN() throws {
    let first = try peer.control(
      "add-user", "anna", "--pin-mode", "1", "--keeps-unlock-key", "--unlock-mode", "2")
    try expect(start(first).exit, equals: 0)
    try expect(
      finish(peer.control("second-code", "anna"), "--pin-mode", "checked", "--pin-fd", "4").exit, equals: 0)
    try block()
    let unlock = ["pin", "unlock", "--transport", peer.transport, "--json"]
    #expect(try tool.run(unlock + ["--start"]).json["needsNewPIN"] as? Bool == true)
    let done = try tool.run(
      unlock + ["--code-fd", "3", "--new-pin-fd", "4"],
      secrets: [3: peer.control("unlock-code", "anna"), 4: "5207"])
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect(code().exit, equals: 3)
    try peer.control("judge", "anna", #require(try code("5207").json["code"] as? String))
  }

  @Test("a disabled credential is replaced by a new activation")
  func disable() throws {
    try activate()
    try expect(start(peer.control("activation-code", "anna")).exit, equals: 8)
    let run = try tool("otp", "activate", "disable", "bank", "--transport", peer.transport, "--json")
    expect(run.exit, equals: 0, "\(run.errors)")
    try expect(run.json["state"] as? String, equals: "disabled")
    try expect(code().exit, equals: 9)
    try expect(start(peer.control("activation-code", "anna")).exit, equals: 0)
    try expect(status(), equals: "disabled")
    let done = try finish(peer.control("second-code", "anna"), "--pin", "pin", "--pin-fd", "4")
    expect(done.exit, equals: 0, "\(done.errors)")
    try peer.control("judge", "anna", #require(try code().json["code"] as? String))
  }

  /// Verified to fail when the mode of the disabled credential decides.
  @Test("a new activation gives its own server an unlock key, whatever the disabled credential had")
  func unlockKeyOfReplacement() throws {
    let first = try peer.control("add-user", "anna", "--pin-mode", "0")
    try expect(start(first).exit, equals: 0)
    try expect(finish(peer.control("second-code", "anna")).exit, equals: 0)
    try expect(tool("otp", "activate", "disable", "bank", "--transport", peer.transport).exit, equals: 0)
    let again = try peer.control(
      "add-user", "bea", "--pin-mode", "1", "--keeps-unlock-key", "--unlock-mode", "2")
    try expect(start(again).json["secondsLeft"] as? Int, equals: 300)
    let done = try finish(peer.control("second-code", "bea"), "--pin-mode", "checked", "--pin-fd", "4")
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect((peer.shown("bea")["unlockKeyHex"] as? String)?.count, equals: 32)
  }

  /// Verified to fail when nothing is said.
  @Test("a server that wants an unlock key, and gets none, is told of to the person")
  func noUnlockKey() throws {
    try expect(tool("pin", "set", "--new-pin-fd", "3", secrets: [3: "8306"]).exit, equals: 0)
    try expect(
      start(peer.control("add-user", "anna", "--pin-mode", "1", "--keeps-unlock-key")).exit, equals: 0)
    let done = try tool.run(
      ["otp", "activate", "finish", "bank", "--transport", peer.transport, "--code-fd", "3", "--pin", "pin"]
        + ["--pin-fd", "4"], secrets: [3: peer.control("second-code", "anna"), 4: "8306"])
    #expect(done.exit == 0 && done.errors.contains("wants an unlock key"), "\(done.errors)")
    #expect(try peer.shown("anna")["unlockKeyHex"] is NSNull)
  }

  /// Runs a command on a terminal, presses Ctrl-C at the prompt that ends in `question`, and returns the exit code.
  private func cancel(_ words: [String], at question: String) throws -> Int32 {
    let screen = try PseudoTerminal()
    let process = try tool.start(words + ["--transport", peer.transport], on: screen)
    try screen.wait(for: question)
    screen.type("\u{3}")
    return try process.wait()
  }

  @Test("Ctrl-C at each prompt leaves what there was", .requirement("A1", "A8"))
  func cancelled() throws {
    let first = try peer.control("add-user", "anna", "--pin-mode", "1")
    try expect(cancel(["otp", "activate", "start", "bank"], at: "code: "), equals: 5)
    try expect(tool("otp", "activate", "status", "bank").exit, equals: 1)
    try expect(start(first).exit, equals: 0)
    let second = try tool.file("second", peer.control("second-code", "anna"))
    let finishing = ["otp", "activate", "finish", "bank"]
    try expect(cancel(finishing + ["--pin-mode", "checked"], at: "code: "), equals: 5)
    try expect(cancel(finishing + ["--code-file", second, "--pin-mode", "checked"], at: "PIN: "), equals: 5)
    #expect(try tool("pin", "status").text.isEmpty, "no PIN item is left")
    try expect(tool("pin", "set", "--new-pin-fd", "3", secrets: [3: "8306"]).exit, equals: 0)
    try expect(cancel(finishing + ["--code-file", second, "--pin", "pin"], at: "PIN: "), equals: 5)
    try expect(status(), equals: "started")
    try expect(
      tool.run(
        finishing + ["--code-file", second, "--pin", "pin", "--pin-fd", "3", "--transport", peer.transport],
        secrets: [3: "8306"]
      ).exit, equals: 0)
    try block()
    try expect(cancel(["pin", "unlock"], at: "code: "), equals: 5)
    try expect(status(), equals: "unlockStarted")
    let code = try tool.file("unlock", peer.control("unlock-code", "anna"))
    // The code was not sent.
    try expect(cancel(["pin", "unlock", "--code-file", code], at: "PIN: "), equals: 5)
    try expect(status(), equals: "unlockStarted")
    try expect(tool("pin", "status", "pin", "--json").json["attemptsLeft"] as? Int, equals: 0)
    try expect(
      tool(
        "pin", "unlock", "--code-file", code, "--pin-fd", "3", "--transport", peer.transport,
        secrets: [3: "8306"]
      ).exit, equals: 0)
    try expect(self.code().exit, equals: 0)
  }

  /// Verified to fail when the PIN item is stored before the server is asked.
  @Test(
    "Ctrl-C while the server is asked leaves the activation and no PIN item", .requirement("A1"),
    arguments: ["checked", "camouflaged"])
  func cancelledAtServer(mode: String) throws {
    try expect(start(peer.control("add-user", "anna", "--pin-mode", "1")).exit, equals: 0)
    let code = try tool.file("second", peer.control("second-code", "anna"))
    let pin = try tool.file("pin", "830617")
    try peer.control("fault", "hang", "--operation", "activationFinish")
    let words = [
      "otp", "activate", "finish", "bank", "--transport", peer.transport, "--code-file", code, "--pin-mode",
      mode, "--pin-file", pin,
    ]
    let running = try Child(Tool.path, words, tool.environment).start()
    try waitUntil("the server hangs") { try peer.faults().isEmpty }
    running.kill(SIGINT)
    try expect(running.wait(), equals: 130)
    #expect(try tool("pin", "status").text.isEmpty && status() == "started")
    let done = try tool.run(words)
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect(tool("code", "bank", "--pin-file", pin).exit, equals: 0)
  }

  @Test("a locked vault is unlocked before the server is asked, which is asked once")
  func locked() throws {
    try expect(tool("passcode", "set", "--new-passcode-fd", "3", secrets: [3: "correct"]).exit, equals: 0)
    let first = try peer.control("add-user", "anna", "--unlock-mode", "1")
    let transport = ["--transport", peer.transport]
    func run(_ words: [String], _ code: String) throws -> Tool.Run {
      try tool.run(
        words + transport + ["--code-fd", "3", "--passcode-fd", "4"], secrets: [3: code, 4: "correct"])
    }
    let refused = try tool.run(
      ["otp", "activate", "start", "bank", "--no-input", "--code-fd", "3"] + transport, secrets: [3: first])
    expect(refused.exit, equals: 6, "\(refused.errors)")
    try expect(run(["otp", "activate", "start", "bank"], first).exit, equals: 0)
    try expect(status(), equals: "started")
    let done = try run(["otp", "activate", "finish", "bank"], peer.control("second-code", "anna"))
    expect(done.exit, equals: 0, "\(done.errors)")
    try expect(tool("code", "bank", "--passcode-fd", "3", secrets: [3: "correct"]).exit, equals: 0)
    let disabled = try tool.run(["otp", "activate", "disable", "bank"] + transport)
    expect(disabled.exit, equals: 0, "\(disabled.errors)")
    #expect(try peer.complaints().isEmpty)
  }
}
