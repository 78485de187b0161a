import Foundation
import Testing
import CommandLineKit

@Suite("Completion by the real shells")
struct CompletionTests {
  /// What is typed, and words that must and must not be offered.
  private static let cases: [(line: String, offered: [String], missing: [String])] = [
    ("vaultctl ver", ["verify", "version"], ["item"]),
    ("vaultctl completion ", ["bash", "zsh", "fish"], []),
    ("vaultctl path --pro", ["--prompt"], ["--vault"]),
    ("vaultctl path --prompt ", ["auto", "terminal", "pinentry", "none"], ["checked"]),
    ("vaultctl --vault x ver", ["verify", "version"], []),
    ("vaultctl ro", ["rotate"], []),
    ("vaultctl rotate ", ["device-key", "epoch", "parameters"], []),
    ("vaultctl bio", ["biometry"], ["biokey"]),
  ]

  private func script(_ shell: Completion.Shell, _ tool: Tool) throws -> String {
    let run = try tool("completion", shell.rawValue)
    #expect(run.exit == 0)
    return try tool.file("completion.\(shell.rawValue)", run.text)
  }

  private func check(_ line: String, _ words: Set<String>, _ offered: [String], _ missing: [String]) {
    #expect(words.isSuperset(of: offered), "'\(line)' offers \(words)")
    #expect(words.isDisjoint(with: missing), "'\(line)' offers \(words)")
  }

  @Test("bash completes verbs, options and values")
  func bash() throws {
    guard let bash = Shell.find("bash") else { return print("skipped: bash is not installed") }
    let tool = try Tool()
    let script = try script(.bash, tool)
    for (line, offered, missing) in Self.cases {
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
      let command = """
        set -eu; source '\(script)'; COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
        set +e; _vaultctl; printf '%s\\n' "${COMPREPLY[@]}"
        """
      let run = try tool.run(["--norc", "-c", command], program: bash)
      #expect(run.exit == 0 && run.errors.isEmpty, "\(run.errors)")
      check(line, Set(run.text.split(separator: "\n").map(String.init)), offered, missing)
    }
  }

  @Test("fish completes verbs, options and values")
  func fish() throws {
    guard let fish = Shell.find("fish") else { return print("skipped: fish is not installed") }
    let tool = try Tool()
    let script = try script(.fish, tool)
    for (line, offered, missing) in Self.cases {
      let run = try tool.run(
        ["--no-config", "-c", "source '\(script)'; complete -C '\(line)'"], program: fish)
      #expect(run.exit == 0 && run.errors.isEmpty, "\(run.errors)")
      let words = run.text.split(separator: "\n").compactMap {
        $0.split(separator: "\t").first.map(String.init)
      }
      check(line, Set(words), offered, missing)
    }
  }

  @Test("zsh completes verbs, options and values")
  func zsh() throws {
    guard let zsh = Shell.find("zsh") else { return print("skipped: zsh is not installed") }
    let tool = try Tool()
    let script = try script(.zsh, tool)
    for (line, offered, missing) in Self.cases {
      // A real line editor in a pseudo-terminal; what compadd is given is written down, and then that all is done.
      let inner = """
        autoload -Uz compinit; compinit -u -D; source '\(script)'
        compadd() {
          local -a all; builtin compadd -O all "$@"; print -rl -- $all >> '\(tool.home.path)/offered'
          builtin compadd "$@"
        }
        finished() { : > '\(tool.home.path)/finished' }
        comppostfuncs=(finished)
        """
      let rc = try tool.file("inner.zsh", inner)
      for name in ["offered", "finished"] {
        try? FileManager.default.removeItem(atPath: tool.home.path + "/" + name)
      }
      let command = """
        zmodload zsh/zpty; zpty -b line 'zsh -f -i'
        zpty -w line "PS1=; source '\(rc)'; print REA''DY"
        for i in {1..2400}; do zpty -rt line out '*READY*' && break; sleep 0.05; done
        zpty -n -w line $'\(line)\\t'
        for i in {1..2400}; do sleep 0.05; zpty -rt line out; [[ -e '\(tool.home.path)/finished' ]] && break; done
        zpty -d line
        """
      _ = try tool.run(["-f", "-c", command], program: zsh)
      #expect(
        FileManager.default.fileExists(atPath: tool.home.path + "/finished"), "'\(line)' is not completed")
      let text = (try? String(contentsOfFile: tool.home.path + "/offered", encoding: .utf8)) ?? ""
      check(line, Set(text.split(separator: "\n").map(String.init)), offered, missing)
    }
  }
}
