import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

@Suite("What a message repeats of a command line", .bounded)
struct RefusedWordTests {
  private func lines(_ words: [String], isInteractive: Bool = false) -> [String] {
    do throws(CommandError) {
      _ = try Parser.parse(words, of: VerbTable.program, in: Surroundings(isInteractive: isInteractive))
      return []
    } catch { return error.lines }
  }

  private static let canary = "kaninchenbau9"

  /// Verified to fail when an option is shown with its value, and when the second word after an unknown command is shown.
  @Test(
    "a value and a word too many are never repeated: each may be a secret",
    arguments: [
      ["vault", "path", canary], ["get", "mail", "url", canary, canary],
      ["get", "--nonsense=" + canary, "mail"],
      ["get", "mail", "--nonsense", canary], ["get", "mail", "--prompt", canary],
      ["get", "mail", "--prompt=" + canary],
      ["get", "mail", "-p" + canary], ["get", "mail", "-p=" + canary], ["get", "mail", "-c=" + canary],
      ["add", "mail", canary], ["add", "mail", "--password", canary],
      ["add", "mail", "--password=" + canary],
      ["add", "mail", "--genrate", canary], ["insert", "mail", canary], ["isnert", "mail", canary],
      ["otp", "nonsense", "mail", canary], ["git", "push", canary], ["card", "put", "card", canary],
      ["item", "update", "mail", canary], ["completion", canary], ["audit", "--since", canary],
      ["get", "mail", "--" + canary + "!"], ["get", "mail", "--", "url", canary],
      ["run", "--nonsense=" + canary, "--", canary],
      ["store", "mail", canary], ["passwd", canary], ["unlock", canary], ["export", canary, "f"],
      ["edit", "mail", "--account", "a", "--account", canary], ["--vault=" + canary, "nonsense"],
    ])
  func secrets(words: [String]) {
    for isInteractive in [false, true] {
      let told = lines(words, isInteractive: isInteractive)
      #expect(
        (isInteractive || told.count > 0) && !told.contains { $0.contains(Self.canary) }, "\(words): \(told)")
    }
  }

  @Test(
    "the command, the option and the name that were typed are repeated, with the command to copy",
    arguments: [
      (["fnid"], "'fnid' is not a command of vaultctl", "did you mean 'vaultctl find'?"),
      (["sttaus"], "'sttaus' is not a command of vaultctl", "did you mean 'vaultctl status'?"),
      (["bakcup", "b"], "'bakcup' is not a command of vaultctl", "did you mean 'vaultctl backup b'?"),
      (
        ["serach", "my mail"], "'serach' is not a command of vaultctl",
        "did you mean 'vaultctl find \"my mail\"'?"
      ),
      (["gte", "a'b"], "'gte' is not a command of vaultctl", "did you mean 'vaultctl get'?"),
      (["get", "mail", "--copi"], "--copi is not an option of 'vaultctl get'", "did you mean --copy?"),
      (["get", "mail", "--clpi"], "--clpi is not an option of 'vaultctl get'", "did you mean --copy?"),
      (
        ["get", "mail", "-x"], "-x is not an option of 'vaultctl get'",
        "'vaultctl get --help' lists the options"
      ),
      (["get", "-x"], "-x is not an option of 'vaultctl get'", "'vaultctl get --help' lists the options"),
      (["get", "-work"], "-w is not an option of 'vaultctl get'", "'vaultctl get -- NAME'"),
      (["otp", "lsit"], "'lsit' is not a command of 'vaultctl otp'", "did you mean 'vaultctl otp list'?"),
      (["otp", "github"], "'github' is not a command of 'vaultctl otp'", "'vaultctl code github'"),
      (["github"], "'github' is not a command of vaultctl", "'vaultctl show github'"),
      (["vault", "verify"], "'verify' is not a command of 'vaultctl vault'", "'vaultctl vault check'"),
      (
        ["recovery-code", "check"], "'check' is not a command of 'vaultctl recovery-code'",
        "'vaultctl recovery-code verify'"
      ),
      (["vault"], "'vaultctl vault' needs a command: ", "'vaultctl vault -h' lists all"),
      (
        ["completion", "powershell"], "SHELL takes one of bash, zsh, fish",
        "write 'vaultctl completion bash|zsh|fish'"
      ),
      (["-v"], "-v is not an option of 'vaultctl'", "--log"),
    ])
  func repeated(words: [String], message: String, hint: String) {
    let told = lines(words)
    #expect(told.count == 2 && told[0].hasPrefix(message) && told[1].contains(hint), "\(told)")
  }

  @Test("a word of 10 KiB is cut and says so, and none of it moves the cursor of a terminal")
  func hostile() throws {
    let tool = try Tool()
    let words = [
      String(repeating: "a", count: 10_240), "\u{1B}[2J\u{1B}]0;x\u{7}", "a\u{202E}b",
      "--" + String(repeating: "b", count: 10_240),
      "-\u{1B}", "\n\n\n", String(repeating: "\u{301}", count: 5000), "'", "--\u{1B}[2J", "",
    ]
    for word in words {
      for line in [[word], ["get", word, "--json", "--nonsense"], ["otp", word]] {
        let run = try tool.run(line)
        #expect(run.exit != 0 && run.errors.utf8.count < 700, "\(run.errors.utf8.count)")
        #expect(
          !run.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{202E}" },
          "\(run.errors.debugDescription)")
        expect(run.output.isEmpty, equals: true)
      }
    }
    let json = try tool.run(["fnid", "--json"])
    #expect(try json.error["message"] as? String == "'fnid' is not a command of vaultctl")
    #expect(try (json.error["hint"] as? String)?.contains("'vaultctl find'") == true)
  }

  @Test("init is advised only where there is no vault")
  func noVault() throws {
    let tool = try Tool()
    for word in ["setup", "register", "iint", "vault create"] {
      #expect(
        try tool.run(word.split(separator: " ").map(String.init)).errors.contains("'vaultctl init'"),
        "\(word)")
    }
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for word in [
      "setup", "register", "iint", "vault create", "edti", "gti", "signup", "db-create", "int", "inti",
    ] {
      let run = try tool.run(word.split(separator: " ").map(String.init))
      #expect(run.exit == 2 && !run.errors.contains("init'"), "\(run.errors)")
    }
    #expect(try !tool.run([]).errors.contains("init"))
  }

  @Test(
    "a name that nothing has is repeated, with a near one of the vault; what is not in a list is not named")
  func names() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for name in ["mail", "work/github", "shop"] { try expect(tool("add", name, "-g").exit, equals: 0) }
    for (name, hint) in [
      ("mai", "'vaultctl get mail'"), ("Mail", "'vaultctl get mail'"),
      ("github", "'vaultctl get work/github'"),
      ("hsop", "'vaultctl get shop'"), ("xyz", "'vaultctl ls' shows the names"),
    ] {
      let run = try tool("get", name)
      #expect(
        run.exit == 1 && run.errors.contains("there is no item '\(name)'\n") && run.errors.contains(hint),
        "\(run.errors)")
    }
    try expect(tool("rm", "shop").exit, equals: 0)
    let run = try tool("get", "sho")
    #expect(run.exit == 1 && !run.errors.contains("shop"), "\(run.errors)")
  }
}
