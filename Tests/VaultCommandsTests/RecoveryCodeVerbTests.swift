import Foundation
import TestSupport
import Testing

@Suite("Recovery codes at the command line", .bounded, .requirement("U4"))
struct RecoveryCodeVerbTests {
  @Test("with --out the code is in a new file of mode 0600 and opens the vault; the one of before does not")
  func toFile() throws {
    let (tool, old) = try newTool("--no-passcode", "--recovery-code")
    let made = try tool("recovery-code", "new", "--out", tool.home.path + "/code", "--json", "--no-input")
    expect(made.exit, equals: 0, "\(made.errors)")
    #expect(try made.json["replaced"] as? Bool == true)
    let path = try #require(try made.json["file"] as? String)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    expect(mode, equals: 0o600)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains(/^([A-Z2-7]{4}-){7}[A-Z2-7]{4}\n$/))
    try expect(check(tool, file: path).exit, equals: 0)
    try expect(check(tool, old).exit, equals: 3)
    #expect(try tool("vault", "doctor").text.contains("a recovery code was made"))
    // The code of the file recovers, the other does not.
    try FileManager.default.removeItem(atPath: tool.home.path + "/.local/state/vaultctl")
    try expect(check(tool, file: path).exit, equals: 0, "no device key is needed")
    try expect(tool("vault", "rotate", "device-key", "--recovery-fd", "3", secrets: [3: old]).exit, equals: 3)
    try expect(tool("vault", "rotate", "device-key", "--recovery-file", path).exit, equals: 0)
    try expect(tool("vault", "check").exit, equals: 0)
  }

  @Test("what is in the way is told first, and after a refusal there is no file and the old code works")
  func refused() throws {
    let (tool, old) = try newTool("--passcode-fd", "3", "--recovery-code")
    let taken = try tool.file("taken", "mine")
    let run = try tool("recovery-code", "new", "--out", taken, "--no-input")
    #expect(run.exit == 8 && run.errors.contains("name another file, such as \(taken)-2"), "\(run.errors)")
    try expect(String(contentsOfFile: taken, encoding: .utf8), equals: "mine")
    let path = tool.home.path + "/code"
    let new = ["recovery-code", "new", "--out", path]
    let locked = try tool.run(new + ["--no-input"])
    #expect(locked.exit == 6 && locked.errors.contains("--passcode-fd"))
    try expect(tool.run(new + ["--passcode-fd", "3"], secrets: [3: "wrong"]).exit, equals: 3)
    try expect(tool("recovery-code", "remove", "--passcode-fd", "3", secrets: [3: "wrong"]).exit, equals: 3)
    let nowhere = ["recovery-code", "new", "--out", tool.home.path + "/none/code", "--passcode-fd", "3"]
    try expect(tool.run(nowhere, secrets: [3: "p"]).exit, equals: 13)
    #expect(!FileManager.default.fileExists(atPath: path))
    try expect(check(tool, old).exit, equals: 0)
    try expect(tool.run(new + ["--passcode-fd", "3"], secrets: [3: "p"]).exit, equals: 0)
    #expect(try check(tool, file: path).exit == 0 && check(tool, old).exit == 3)
  }

  @Test("without a terminal a code cannot be shown: 6, which names --out")
  func noTerminal() throws {
    let (tool, _) = try newTool("--no-passcode")
    for word in ["--no-input", "--prompt=none"] {
      let run = try tool("recovery-code", "new", word)
      #expect(run.exit == 6 && run.errors.contains("--out") && run.output.isEmpty)
    }
    var child = Child(Tool.path, ["recovery-code", "new"], tool.environment)
    child.leadsSession = true
    child.open(0, "/dev/null")
    child.create(1, tool.home.path + "/output")
    child.create(2, tool.home.path + "/errors")
    try expect(child.start().wait(), equals: 6)
    #expect(try tool("status", "--json").json["recoveryCode"] as? Bool == false)
  }

  @Test(
    "checking changes nothing: 0 for the code, 3 for another and where there is none, 12 for what is none")
  func check() throws {
    let (tool, code) = try newTool("--passcode-fd", "3", "--recovery-code")
    let (other, otherCode) = try newTool("--no-passcode", "--recovery-code")
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    let before = try Data(contentsOf: URL(fileURLWithPath: vault))
    let right = try check(tool, " " + code.lowercased().replacing("-", with: " ") + "\n")
    #expect(try right.exit == 0 && right.json["valid"] as? Bool == true)
    try expect(check(tool, otherCode).exit, equals: 3)
    for text in ["nonsense", String(code.dropLast())] { try expect(check(tool, text).exit, equals: 12) }
    try expect(Data(contentsOf: URL(fileURLWithPath: vault)), equals: before)
    try expect(tool("recovery-code", "verify", "--no-input").exit, equals: 6)
    #expect(try other("recovery-code", "remove", "--json").json["recoveryCode"] as? Bool == false)
    try expect(check(other, otherCode).exit, equals: 3)
    let again = try other("recovery-code", "remove")
    #expect(again.exit == 9 && again.errors.contains("recovery-code new"))
    #expect(try other("vault", "doctor").text.contains("recovery-code new"))
    try expect(check(Tool(), code).exit, equals: 14)
  }

  @Test("on a terminal the code is shown there alone, and works once its last two groups were typed")
  func typed() throws {
    let (tool, old) = try newTool("--no-passcode", "--recovery-code")
    let (screen, running) = try start(tool, ["recovery-code", "new"])
    let code = try shown(on: screen)
    #expect(try check(tool, old).exit == 0 && check(tool, code).exit == 3)
    screen.type("AAAA-BBBB\n")
    try screen.wait(for: "not its last two groups")
    try screen.wait(for: "the last two groups: ")
    try expect(check(tool, old).exit, equals: 0)
    // Another process changes the keys while the person writes: the same code is sealed for the new ones.
    try expect(tool("vault", "rotate", "epoch").exit, equals: 0)
    screen.type(code.suffix(9).lowercased() + "\n")
    try expect(running.wait(), equals: 0)
    try expect(String(contentsOfFile: tool.home.path + "/output", encoding: .utf8), equals: "")
    #expect(try check(tool, code).exit == 0 && check(tool, old).exit == 3)
  }

  @Test("three wrong answers, Ctrl-C and a kill leave the old code, and what was shown opens nothing")
  func declined() throws {
    let (tool, old) = try newTool("--no-passcode", "--recovery-code")
    for way in ["wrong", "\u{3}", "kill"] {
      let (screen, running) = try start(tool, ["recovery-code", "new"])
      let code = try shown(on: screen)
      switch way {
      case "wrong":
        for round in 1...3 {
          screen.type(code.prefix(9) + "\n")
          guard round < 3 else { break }
          try screen.wait(for: "not its last two groups")
          // A prompt discards what was typed before it.
          try screen.wait(for: "the last two groups: ")
        }
        try expect(running.wait(), equals: 5)
        try screen.wait(for: "no recovery code was made")
        try screen.wait(for: "a code that was shown opens nothing")
      case "kill":
        running.kill()
        try expect(running.wait(), equals: -SIGKILL)
      default:
        screen.type(way)
        try expect(running.wait(), equals: 5)
      }
      #expect(try check(tool, old).exit == 0 && check(tool, code).exit == 3, "\(way)")
    }
  }

  @Test("init on a terminal offers a code; a script, --json and --no-recovery-code are asked nothing")
  func offered() throws {
    for answer in ["y", "n"] {
      let tool = try Tool()
      let (screen, running) = try start(tool, ["init", "--no-passcode"])
      try screen.wait(for: "make a recovery code now? [y/N] ")
      screen.type(answer + "\n")
      if answer == "y" {
        let code = try shown(on: screen)
        screen.type(code.suffix(9) + "\n")
        try expect(running.wait(), equals: 0)
        try expect(check(tool, code).exit, equals: 0)
      } else {
        try expect(running.wait(), equals: 0)
        try screen.wait(for: "recovery-code new")
      }
      let output = try String(contentsOfFile: tool.home.path + "/output", encoding: .utf8)
      #expect(output.hasPrefix("vault ") && !output.contains("recovery code"))
    }
    for words in [["--no-recovery-code"], ["--json"], ["--no-input"], ["--recovery-code"]] {
      let tool = try Tool()
      let (screen, running) = try start(tool, ["init", "--no-passcode"] + words)
      try expect(running.wait(), equals: 0)
      #expect(!screen.drain().contains("[y/N]"))
    }
    try expect(Tool()("init", "--no-passcode", "--recovery-code", "--no-recovery-code").exit, equals: 2)
  }

  // MARK: passcode set

  // On b5afbda the recovery code stays without a question: tried, exit 0, and the code still recovers.
  @Test("passcode set keeps the recovery code that is shown, and drops it where that is said; else 9")
  func passcodeSet() throws {
    let (tool, code) = try newTool("--no-passcode", "--recovery-code")
    let (_, otherCode) = try newTool("--no-passcode", "--recovery-code")
    let set = ["passcode", "set", "--new-passcode-fd", "3"]
    let asked = try tool.run(set + ["--no-input"], secrets: [3: "p"])
    #expect(asked.exit == 9 && asked.errors.contains("--drop-recovery-code"))
    #expect(asked.errors.contains("--recovery-fd"))
    let both = set + ["--recovery-fd", "4", "--drop-recovery-code"]
    try expect(tool.run(both, secrets: [3: "p", 4: code]).exit, equals: 2)
    let keep = set + ["--recovery-fd", "4", "--json"]
    try expect(tool.run(keep, secrets: [3: "p", 4: otherCode]).exit, equals: 3)
    try expect(tool.run(keep, secrets: [3: "p", 4: "nonsense"]).exit, equals: 12)
    #expect(try tool("status", "--json").json["passcode"] as? Bool == false)
    let kept = try tool.run(keep, secrets: [3: "p", 4: code])
    expect(kept.exit, equals: 0, "\(kept.errors)")
    #expect(try (kept.json["forgot"] as? [String: Any])?["recoveryCode"] as? Bool == false)
    try expect(check(tool, code).exit, equals: 0)
    try expect(tool("vault", "check", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)

    let (dropping, dropped) = try newTool("--no-passcode", "--recovery-code")
    let run = try dropping.run(set + ["--drop-recovery-code", "--no-input"], secrets: [3: "p"])
    #expect(run.exit == 0 && run.text == "forgot  recovery code\n")
    #expect(run.errors.contains("no longer opens") && run.errors.contains("vaultctl recovery-code new"))
    try expect(check(dropping, dropped).exit, equals: 3)

    let (without, _) = try newTool("--no-passcode")
    let plain = try without.run(set + ["--no-input"], secrets: [3: "crane lemon ocean piano tiger wagon"])
    #expect(plain.exit == 0 && plain.output.isEmpty && plain.errors.isEmpty)
  }

  @Test("at the prompt an empty answer drops the code, and a new one is offered")
  func passcodeSetTyped() throws {
    let (tool, old) = try newTool("--no-passcode", "--recovery-code")
    let pass = try tool.file("pass", "p")
    let (screen, running) = try start(tool, ["passcode", "set", "--new-passcode-file", pass])
    try screen.wait(for: "an empty answer drops the code\r\nrecovery code: ")
    #expect(!screen.echoes)
    screen.type("\n")
    try screen.wait(for: "no longer opens the vault")
    try screen.wait(for: "make a recovery code now? [y/N] ")
    screen.type("y\n")
    let code = try shown(on: screen)
    #expect(try tool("status", "--json").json["passcode"] as? Bool == true)
    screen.type(code.suffix(9) + "\n")
    try expect(running.wait(), equals: 0)
    #expect(try check(tool, code).exit == 0 && check(tool, old).exit == 3)
    try expect(tool("vault", "check", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)

    let (keeping, kept) = try newTool("--no-passcode", "--recovery-code")
    let file = try keeping.file("pass", "p")
    let (other, second) = try start(keeping, ["passcode", "set", "--new-passcode-file", file])
    try other.wait(for: "drops the code\r\nrecovery code: ")
    other.type(kept + "\n")
    try expect(second.wait(), equals: 0)
    // Until here the terminal must not hang up.
    _ = other.drain()
    try expect(check(keeping, kept).exit, equals: 0)
  }

  // MARK: restore

  @Test("restore tells whether the recovery code of the backup works")
  func restored() throws {
    let (tool, code) = try newTool("--no-passcode", "--recovery-code")
    let backup = tool.home.path + "/b.vault"
    let phrase = try tool.file("phrase", "long phrase")
    try expect(tool("backup", backup, "--passphrase-file", phrase).exit, equals: 0)
    let beside = tool.home.path + "/beside/b.vault"
    let valid = try tool("restore", backup, "--vault", beside, "--passphrase-file", phrase)
    #expect(valid.exit == 0 && valid.errors.contains("valid again"), "\(valid.errors)")
    try expect(check(tool, code, "--vault", beside).exit, equals: 0)
    try expect(tool("recovery-code", "new", "--out", tool.home.path + "/new").exit, equals: 0)
    let revoked = try tool("restore", backup, "--replace", "--passphrase-file", phrase)
    #expect(revoked.errors.contains("none works") && revoked.errors.contains("vaultctl recovery-code new"))
    #expect(try check(tool, code).exit == 3 && check(tool, file: tool.home.path + "/new").exit == 3)
    #expect(try tool("status", "--json").json["recoveryCode"] as? Bool == false)
  }

  // MARK: Steps

  /// A vault made with these options, and its recovery code if it has one. The passcode is `p`.
  private func newTool(_ options: String...) throws -> (Tool, String) {
    let tool = try Tool()
    let made = try tool.run(["init", "--json"] + options, secrets: [3: "p"])
    expect(made.exit, equals: 0, "\(made.errors)")
    return (tool, try made.json["recoveryCode"] as? String ?? "")
  }

  private func check(_ tool: Tool, _ code: String, _ options: String...) throws -> Tool.Run {
    try tool.run(["recovery-code", "verify", "--recovery-fd", "3", "--json"] + options, secrets: [3: code])
  }

  private func check(_ tool: Tool, file: String) throws -> Tool.Run {
    try tool("recovery-code", "verify", "--recovery-file", file)
  }

  /// Starts the tool on a terminal that controls it; standard output is a file.
  private func start(_ tool: Tool, _ words: [String]) throws -> (PseudoTerminal, Child.Running) {
    let screen = try PseudoTerminal()
    return (screen, try tool.start(words, on: screen))
  }

  /// The code on the screen, which waits for its last two groups.
  private func shown(on screen: PseudoTerminal) throws -> String {
    try screen.wait(for: "the last two groups: ")
    return String(try #require(screen.transcript.firstMatch(of: /([A-Z2-7]{4}-){7}[A-Z2-7]{4}/)).output.0)
  }
}
