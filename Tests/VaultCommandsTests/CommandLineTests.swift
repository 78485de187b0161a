import Foundation
import TestSupport
import Testing
import CommandLineKit
import VaultCommands
import VaultWords

/// Each test was verified to fail with the tool from before these tests; that of exit codes, when 9 and 15 are left out.
@Suite("What a command line is told", .bounded, .requirement("U14"))
struct CommandLineTests {
  private func newTool(_ words: String...) throws -> Tool {
    let tool = try Tool()
    let words = words.isEmpty ? ["--no-passcode"] : words
    try expect(tool.run(["init"] + words, secrets: [3: "pass"]).exit, equals: 0)
    return tool
  }

  @Test(
    "a path that is - is refused, and ./- is named, where a verb takes no standard input or output",
    arguments: [
      ["import", "jsonl", "-"], ["export", "jsonl", "-", "--plain"], ["recovery-code", "new", "--out", "-"],
    ])
  func dash(words: [String]) throws {
    let run = try newTool().run(words)
    #expect(run.exit == 2 && run.errors.contains("./-"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test("a command that only reads ends by SIGPIPE when its reader is gone; one that writes says so: 13")
  func brokenPipe() throws {
    let python = try Shell.need("python3")
    let tool = try newTool()
    let script = """
      import os, subprocess, sys
      reader, writer = os.pipe()
      os.close(reader)
      run = subprocess.run(sys.argv[1:], stdout=writer, stderr=subprocess.PIPE)
      print(run.returncode, len(run.stderr))
      """
    func end(_ words: [String]) throws -> String {
      try tool.run(["-c", script, Tool.path] + words, program: python).text
    }
    for words in [["status"], ["audit"], ["vault", "check"], ["doctor"], ["--help"], ["add", "--help"]] {
      try expect(end(words), equals: "-13 0\n", "\(words)")
    }
    let folder = tool.home.path + "/.local/share/vaultctl"
    try expect(FileManager.default.contentsOfDirectory(atPath: folder), equals: ["default.vault"])
    #expect(
      try end(["backup", tool.home.path + "/b", "--passphrase-file", tool.file("p", "p")]).hasPrefix("13 "))
  }

  @Test("a pipe in a directory is refused, with the option for descriptors; one of this process is read")
  func pipeAsFile() throws {
    let tool = try newTool("--passcode-fd", "3")
    for (pipe, exit) in [("<(printf pass)", 0), ("fifo", 13)] {
      let script = #"cd "$HOME"; [ -p fifo ] || mkfifo -m 600 fifo; "$0" vault check --passcode-file "# + pipe
      let run = try tool.run(["-c", script, Tool.path], program: "/bin/bash")
      expect(run.exit, equals: Int32(exit), "\(run.errors)")
      #expect(exit == 0 || run.errors.contains("--passcode-fd 3 3< <("), "\(run.errors)")
    }
  }

  @Test("audit --since takes how long ago, beside dates")
  func since() throws {
    let tool = try Tool()
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1700000000"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1700007000"
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    func count(_ since: String) throws -> Int {
      try tool("audit", "--since", since).text.split(separator: "\n").count
    }
    #expect(try count("1h") == 1 && count("2h") == 2 && count("1700000001") == 1)
    let run = try tool("audit", "--since", "yesterday")
    #expect(run.exit == 2 && run.errors.contains("2027-01-31T10:00"), "\(run.errors)")
  }

  @Test("status shows until when no passcode is accepted, and how many were wrong")
  func lockedOut() throws {
    let tool = try newTool("--passcode-fd", "3")
    #expect(try tool("status", "--json").json["passcodeFailures"] == nil)
    for _ in 0..<5 {
      try expect(tool("vault", "check", "--passcode-fd", "3", secrets: [3: "wrong"]).exit, equals: 3)
    }
    let json = try tool("status", "--json").json
    expect(json["passcodeFailures"] as? Int, equals: 5)
    expect(json["lockedOutUntil"] as? Int, equals: tool.now + 60)
    let text = try tool("status").text
    #expect(text.contains("5 in a row") && text.contains(/locked out until +2030-03-17T17:47:40Z/), "\(text)")
  }

  @Test("edit says how accessibility and access rule are changed", arguments: ["accessible", "access"])
  func accessibility(option: String) throws {
    let run = try newTool()("edit", "a", "--\(option)", "x")
    #expect(run.exit == 2 && run.errors.contains("vaultctl add NEW --accessible"), "\(run.errors)")
    #expect(try #require(VerbTable.verb(["edit"])).notes.contains { $0.contains("--accessible") })
  }

  @Test("malformed input has one code, wherever it is found")
  func malformed() throws {
    let tool = try newTool()
    for words in [["add", ""], ["add", "a"], ["otp", "add", "a"]] {
      let run = try tool.run(words + ["--json"])
      #expect(try run.exit == 12 && run.error["code"] as? String == "malformed", "\(run.errors)")
    }
  }

  @Test("the vault is looked for before anything is asked for and read")
  func vaultFirst() throws {
    let tool = try Tool()
    for words in [["add", "a"], ["otp", "add", "a"], ["import", "jsonl"]] {
      try expect(tool.run(words, input: words[0] == "import" ? [1] : []).exit, equals: 14, "\(words)")
    }
    try expect(newTool()("init", "--no-input").exit, equals: 8)
  }

  @Test("the help of every verb that opens a vault has 9 and 15, and the help of a family has exit codes")
  func exitCodes() {
    // A verb that opens a vault can find it damaged; others find none, or look where one would be.
    for verb in VerbTable.all where verb.exitCodes.contains(.damaged) {
      #expect(verb.exitCodes.contains(.refused) && verb.exitCodes.contains(.unsupported), "\(verb.name)")
    }
    for family in VerbTable.program.families {
      let text = Help(VerbTable.program).text(HelpRequest(topic: .family(family)))
      #expect(text.contains("\nExit codes:\n") && text.contains("as every command: 0, "), "\(family.word)")
    }
  }

  @Test("a duration of nothing is refused in its own words")
  func zero() throws {
    for words in [["mail", "--copy", "0s"], ["--copy", "0s", "mail"], ["mail", "--copy=0s"]] {
      let run = try newTool().run(["get"] + words)
      #expect(
        run.exit == 2 && run.errors.contains("--copy 0s takes a time from 1s to 36525d"), "\(run.errors)")
    }
  }

  @Test("a newline at the end of one line is stored, and told")
  func newline() throws {
    let tool = try newTool()
    let run = try tool("add", "a", input: Array("secret\n".utf8))
    #expect(run.exit == 0 && run.errors.contains("ends in a newline, which is stored"), "\(run.errors)")
    try expect(tool("get", "a").text, equals: "secret\n")
    for (name, secret) in [("b", "secret"), ("c", "-----BEGIN\n-----END\n"), ("d", "\n")] {
      #expect(try tool("add", name, input: Array(secret.utf8)).errors.isEmpty, "\(name)")
    }
  }

  @Test("the tool says how many bits a secret has, warns of few, and never prints the secret")
  func said() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let good = try tool("add", "good", "--generate", "8:words")
    #expect(good.errors == "vaultctl: generated 8 words: 88 bits\n" && good.output.isEmpty)
    try expect(tool("get", "good").text.split(separator: "-").count, equals: 8)
    let weak = try tool("add", "weak", "--generate", "8:hex")
    #expect(weak.exit == 0 && weak.errors.contains("32 bits") && weak.errors.contains("can be guessed"))
    let json = try tool("edit", "weak", "--generate", "24", "--json")
    #expect(try json.json["entropyBits"] as? Int == 142 && json.errors.isEmpty)
    #expect(!json.text.contains(try tool("get", "weak").text))
  }

  @Test("text for a terminal has what does not show written out")
  func printableText() {
    expect(
      printable("a\u{1B}[31mb\u{7}\u{202E}c\u{9B}\n\u{3164}\u{A0}"),
      equals: "a\\u{1B}[31mb\\u{7}\\u{202E}c\\u{9B}\\u{A}\\u{3164}\\u{A0}")
    expect(printable("Grüße 👩"), equals: "Grüße 👩")
  }
}
