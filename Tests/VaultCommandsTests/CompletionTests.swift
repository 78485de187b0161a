import Foundation
import TestSupport
import Testing
import CommandLineKit

@Suite("Completion by the real shells", .bounded)
struct CompletionTests {
  /// What is typed, and words that must and must not be offered.
  private static let cases: [(line: String, offered: [String], missing: [String])] = [
    ("vaultctl vault ", ["check", "version", "rotate"], ["get"]),
    ("vaultctl sea", [], ["search"]),
    ("vaultctl get mail -", ["-c", "--copy", "-j"], ["-y"]),
    ("vaultctl completion ", ["bash", "zsh", "fish"], []),
    ("vaultctl vault path --pro", ["--prompt"], ["--vault"]),
    ("vaultctl vault path --prompt ", ["auto", "terminal", "pinentry", "none"], ["checked"]),
    ("vaultctl --vault x vault ver", ["version"], []),
    ("vaultctl vault ro", ["rotate"], []),
    ("vaultctl vault rotate ", ["device-key", "epoch", "parameters"], []),
    ("vaultctl bio", ["biometry"], []),
    ("vaultctl biometry bio", ["biokey"], []),
    ("vaultctl get ma", ["mail"], ["mark.txt"]),
    ("vaultctl audit --item ma", ["mail"], ["mark.txt"]),
    ("vaultctl run --env TOKEN=ma", ["mail"], ["mark.txt"]),
    ("vaultctl run --fd 3=", ["mail", "bank"], ["mark.txt"]),
    ("vaultctl --vault ma", ["mark.txt"], ["mail"]),
    ("vaultctl backup ma", ["mark.txt"], ["mail"]),
    ("vaultctl import jsonl ma", ["mark.txt"], ["jsonl"]),
    ("vaultctl import ", ["jsonl"], ["mark.txt"]),
    ("vaultctl run -- print", ["printf"], ["mail"]),
    ("vaultctl run --env X=mail -- cat ma", ["mark.txt"], ["mail", "--env"]),
  ]

  /// A vault with two items, a file beside it, and the tool under its own name.
  private func newTool() throws -> Tool {
    let tool = try Tool()
    try FileManager.default.createSymbolicLink(
      atPath: tool.home.path + "/vaultctl", withDestinationPath: Tool.path)
    tool.environment["PATH"] = tool.home.path + ":" + (tool.environment["PATH"] ?? "")
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for name in ["mail", "bank"] { try expect(tool("add", name, "--generate", "8").exit, equals: 0) }
    _ = try tool.file("mark.txt", "")
    return tool
  }

  private func script(_ shell: Completion.Shell, _ tool: Tool) throws -> String {
    let run = try tool("completion", shell.rawValue)
    expect(run.exit, equals: 0)
    return try tool.file("completion.\(shell.rawValue)", run.text)
  }

  private func check(_ line: String, _ words: [String], _ offered: [String], _ missing: [String]) {
    let words = Set(words.map { String($0.split(separator: "=").last ?? "") })
    #expect(words.isSuperset(of: offered), "'\(line)' offers \(words)")
    #expect(words.isDisjoint(with: missing), "'\(line)' offers \(words)")
  }

  @Test("bash completes verbs, options, values, names, files and programs")
  func bash() throws {
    let bash = try Shell.need("bash")
    let tool = try newTool()
    let script = try script(.bash, tool)
    for (line, offered, missing) in Self.cases {
      // As bash splits a line: a = is a word of its own.
      let words = line.replacing("=", with: " = ").replacing("= ", with: line.hasSuffix("=") ? "=" : "= ")
        .split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
      let command = """
        set -eu; cd '\(tool.home.path)'; source '\(script)'; COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
        set +e; _vaultctl; printf '%s\\n' "${COMPREPLY[@]}"
        """
      let run = try tool.run(["--norc", "-c", command], program: bash)
      #expect(run.exit == 0 && run.errors.isEmpty, "\(run.errors)")
      check(line, run.text.split(separator: "\n").map(String.init), offered, missing)
    }
  }

  @Test("fish completes verbs, options, values, names, files and programs")
  func fish() throws {
    let fish = try Shell.need("fish")
    let tool = try newTool()
    let script = try script(.fish, tool)
    for (line, offered, missing) in Self.cases {
      let run = try tool.run(
        ["--no-config", "-c", "cd '\(tool.home.path)'; source '\(script)'; complete -C '\(line)'"],
        program: fish)
      #expect(run.exit == 0 && run.errors.isEmpty, "\(run.errors)")
      let words = run.text.split(separator: "\n").compactMap {
        $0.split(separator: "\t").first.map(String.init)
      }
      check(line, words, offered, missing)
    }
  }

  @Test("zsh completes verbs, options, values, names, files and programs")
  func zsh() throws {
    let zsh = try Shell.need("zsh")
    let tool = try newTool()
    let script = try script(.zsh, tool)
    for (line, offered, missing) in Self.cases {
      // A real line editor in a pseudo-terminal; what compadd is given is written down, and then the screen says that all is done.
      let inner = """
        autoload -Uz compinit; compinit -u -d '\(tool.home.path)/zcompdump'; source '\(script)'
        compadd() {
          local -a all; builtin compadd -O all "$@"; print -rl -- $all >> '\(tool.home.path)/offered'
          builtin compadd "$@"
        }
        finished() { print FINISHED > $TTY }
        comppostfuncs=(finished)
        """
      let rc = try tool.file("inner.zsh", inner)
      try? FileManager.default.removeItem(atPath: tool.home.path + "/offered")
      let command = """
        cd '\(tool.home.path)'; zmodload zsh/zpty; zpty line 'zsh -f -i'
        zpty -w line "PS1=; source '\(rc)'; print REA''DY"
        zpty -r line out '*READY*' || exit 1
        zpty -n -w line $'\(line)\\t'
        zpty -r line out '*FINISHED*' || exit 2
        zpty -d line
        """
      try expect(tool.run(["-f", "-c", command], program: zsh).exit, equals: 0, "'\(line)' is not completed")
      let text = (try? String(contentsOfFile: tool.home.path + "/offered", encoding: .utf8)) ?? ""
      check(line, text.split(separator: "\n").map(String.init), offered, missing)
    }
  }
}
