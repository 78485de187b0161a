import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

@Suite("Help on one screen, and by any word", .bounded)
struct ShortHelpTests {
  private static let program = VerbTable.program

  private static func pages(width: Int = 80) -> [(name: String, text: String)] {
    let help = Help(program, width: width)
    let topics: [(String, HelpRequest.Topic)] =
      [("the program", .program)] + program.families.map { ($0.word, .family($0)) }
      + VerbTable.all.map { ($0.name, .verb($0)) }
    return topics.map { ($0.0, help.text(HelpRequest(topic: $0.1, isShort: true))) }
  }

  /// Verified to fail when the options of a verb are not counted against the room.
  @Test(
    "-h of the program, of each family and of each verb is one screen of 24 lines and 80 columns, with room for a prompt"
  )
  func screen() {
    for (name, text) in Self.pages() {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      #expect(lines.count <= 23 && lines.allSatisfy { $0.count <= 80 }, "\(name): \(lines.count)")
      let hasExample = ["\n  vaultctl", "| vaultctl", "; vaultctl"].contains { text.contains($0) }
      #expect(text.hasPrefix("Usage: vaultctl") && hasExample || name == "otp", "\(name)")
    }
  }

  @Test("-h has each option of the verb, or says how many it leaves out; never one that brings a secret")
  func options() {
    for verb in VerbTable.all {
      let text = Help(Self.program).text(HelpRequest(topic: .verb(verb), isShort: true))
      let secret = verb.secretOptions.flatMap { $0.options.map(\.name) }
      let own = verb.options.map(\.name).filter { !secret.contains($0) }
      let rows = text.split(separator: "\n").filter { $0.hasPrefix("  -") }
      let left = own.count - rows.count
      let end =
        left == 0
        ? "--help shows everything.\n"
        : "--help shows \(left) more option\(left == 1 ? "" : "s"), and everything else.\n"
      #expect(text.hasSuffix(end), "\(verb.name): \(text)")
      for name in secret { #expect(!rows.contains { $0.contains("--\(name) ") }, "\(verb.name) \(name)") }
    }
  }

  @Test("a letter means one option of a verb", arguments: VerbTable.all.map { $0.words })
  func letters(words: [String]) throws {
    let verb = try #require(VerbTable.verb(words))
    let letters =
      (verb.options + Self.program.commonOptions).flatMap { option in option.short.map { String($0) } } + [
        "h", "V",
      ]
    expect(Set(letters).count, equals: letters.count)
  }

  @Test("each width from 20 columns on keeps all words of a page", arguments: [20, 33, 40, 64, 100, 200])
  func widths(width: Int) {
    for verb in VerbTable.all {
      let pages = [80, width].map { Help(Self.program, width: $0).text(HelpRequest(topic: .verb(verb))) }
      let words = pages.map { $0.split { " \n\\".contains($0) }.map(String.init) }
      expect(words[0], equals: words[1], "\(verb.name)")
    }
  }

  @Test(
    "help finds a page by a command, a synonym, a word of another program, or what a command does",
    arguments: [
      ("get", "Usage: vaultctl get NAME"), ("vaultctl get mail", "Usage: vaultctl get NAME"),
      ("get", "Usage: vaultctl get NAME"), ("search", "Usage: vaultctl find"),
      ("code", "Usage: vaultctl code"),
      ("git", "'git' is not a command of vaultctl. This is: vaultctl backup FILE"),
      ("otp", "Usage: vaultctl otp COMMAND"),
      ("otp activate start", "Usage: vaultctl otp activate start"), ("options", "Options of every command."),
      ("exit-codes", "Exit codes."), ("secrets", "A secret is never an argument"),
      ("words", "Words of other programs"),
      ("passwd", "Usage: vaultctl passcode change"), ("config", "'config' is not a command"),
      ("thumbprint", "  vaultctl key public"), ("help help", "Usage: vaultctl help"),
      ("", "Usage: vaultctl COMMAND"),
    ])
  func found(words: String, start: String) throws {
    let help = Help(Self.program, width: 100)
    let page = try help.page(for: words.split(separator: " ").map(String.init))
    #expect(help.text(page).hasPrefix(start), "\(help.text(page).prefix(200))")
  }

  @Test("a word that no page is about is repeated and cut, with the nearest")
  func unknown() throws {
    for (word, hint) in [
      ("xyzzyx", "'vaultctl help' lists all commands"), ("bakcup", "'vaultctl help backup'"),
    ] {
      #expect { try Help(Self.program).page(for: [word]) } throws: { error in
        let error = error as? CommandError
        return error?.exit == .usage && error?.message == "no page is about '\(word)'"
          && error?.hint?.contains(hint) == true
      }
    }
    #expect { try Help(Self.program).page(for: [String(repeating: "q", count: 10_240)]) } throws: {
      ($0 as? CommandError).map { $0.message.utf8.count < 120 && $0.message.contains("10240 bytes") } ?? false
    }
  }

  @Test("what the short help of the program lists are verbs, and each command of the tables is one")
  func tables() throws {
    // Written by others, to be there when both parts are together.
    let awaited: Set = ["gen", "cp", "read"]
    for row in Self.program.manual.daily {
      #expect(Self.program.family(String(row.usage.prefix { $0 != " " })) != nil, "\(row.usage)")
    }
    for command in Vocabulary.vaultctl.commands {
      let words = command.split(separator: " ").map(String.init)
      let isVerb =
        (1...3).contains { Self.program.verb(Array(words.prefix($0))) != nil }
        || Self.program.family(words[0]) != nil
      #expect(isVerb || awaited.contains(words[0]), "\(command)")
    }
    for word in Vocabulary.vaultctl.typed where Self.program.verb(word) != nil {
      Issue.record("\(word) is a command itself")
    }
  }
}
