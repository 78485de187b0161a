import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts

@Suite("What a prompt shows", .bounded, .requirement("Q14"))
struct PromptTextTests {
  private static var full: PromptRequest {
    var request = PromptRequest(
      .passcode, operation: "read the password", label: "mail", reason: "nightly report",
      requester: .init(processID: 4711, executable: "/usr/bin/report"), problem: "wrong passcode")
    request.triesLeft = 2
    request.emptyAnswer = "cancels"
    return request
  }

  @Test("the last problem, operation, label, program with its process, reason and tries, in this order")
  func everything() {
    expect(
      PromptText(Self.full).lines,
      equals: [
        "wrong passcode", "read the password: 'mail'", "  asked by /usr/bin/report (process 4711)",
        "  says: nightly report", "  2 tries left; an empty answer cancels",
      ])
    expect(PromptText(Self.full).question, equals: "vault passcode")
    var last = Self.full
    last.triesLeft = 1
    expect(PromptText(last).lines.last, equals: "  last try; an empty answer cancels")
  }

  /// Verified to fail when the letters are not looked for.
  @Test("a text with letters from right to left is named as one whose numbers may be shown in another order")
  func rightToLeft() throws {
    for (text, isNamed) in [
      ("Pay 12 EUR to Anna 34", false), ("1 \u{5D0} 2", true), ("1 \u{627} 2", true), ("\u{1E900}", true),
      ("\u{FB2A}", true), ("\u{FE8D}", true), ("\u{10A00}", true), ("\u{416} \u{4E2D} \u{E9}", false),
    ] {
      var request = PromptRequest(.transaction, operation: "sign")
      request.text = try ShownText(text)
      expect(PromptText(request).lines.contains { $0.contains("right to left") }, equals: isNamed, "\(text)")
    }
  }

  @Test("no two secrets have one name")
  func secrets() {
    let subjects: [PromptRequest.Subject] = [
      .passcode, .applicationPassword, .phrase, .presence, .finger, .confirmation, .pin, .newPIN, .code,
      .transaction,
    ]
    let names = Set(subjects.map { PromptText(PromptRequest($0, operation: "x")).question })
    #expect(names.count == subjects.count && !names.contains("password") && !names.contains("passcode"))
  }

  @Test("what is not given is not shown; an executable that is not known is said to be so")
  func absent() {
    expect(PromptText(PromptRequest(.phrase, operation: "unlock")).lines, equals: ["unlock"])
    let unknown = PromptRequest(
      .phrase, operation: "x", requester: .init(processID: 1, executable: nil))
    expect(PromptText(unknown).lines[1], equals: "  asked by a program whose file is not known (process 1)")
  }

  /// Verified to fail when default-ignorable characters are not looked for.
  @Test(
    "no field can break a line, move the cursor, reorder the text or hide in it",
    arguments: [
      "\n", "\r", "\u{1B}", "\u{7}", "\u{8}", "\u{7F}", "\u{85}", "\u{9B}", "\u{202E}", "\u{2066}",
      "\u{200B}",
      "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{AD}", "\u{E0041}", "\u{E000}", "\0", "\u{3164}", "\u{2800}",
      "\u{A0}", "\u{34F}", "\u{2003}", "\u{378}", "\u{FE0F}",
    ])
  func hidden(character: String) {
    let evil = "a\(character)b"
    var request = PromptRequest(
      .presence, operation: evil, label: evil, reason: evil,
      requester: .init(processID: 1, executable: "/\(evil)"), problem: evil)
    request.question = evil
    let text = PromptText(request)
    let number = String(character.unicodeScalars.first!.value, radix: 16, uppercase: true)
    let shown = "a\\u{\(number)}b"
    expect(
      text.lines,
      equals: [shown, "\(shown): '\(shown)'", "  asked by /\(shown) (process 1)", "  says: \(shown)"])
    expect(text.question, equals: shown)
  }

  /// Verified to fail when spaces are shown as they are.
  @Test("many spaces are counted, and an accent on nothing or one too many is written out")
  func imitations() {
    let spaces = String(repeating: " ", count: 40)
    let request = PromptRequest(.passcode, operation: "read", label: "mail'\(spaces)reason: none")
    expect(PromptText(request).lines, equals: ["read: 'mail'\\u{20}×40reason: none'"])
    let accents = String(repeating: "\u{301}", count: 6)
    expect(PromptText.visible("e" + accents).unicodeScalars.count, equals: 5 + 2 * "\\u{301}".count)
    expect(PromptText.visible("\u{301}e"), equals: "\\u{301}e")
    expect(PromptText.visible("a\\u{41}\\n"), equals: "a\\u{5C}u{41}\\n")
    expect(PromptText.visible("Grüße, 世界 😀 \u{1EBF}"), equals: "Grüße, 世界 😀 \u{1EBF}")
  }

  /// Verified to fail when the cut is made in silence.
  @Test("an over-long field is cut, and the cut is seen")
  func cut() {
    let long = String(repeating: "x", count: 5000)
    let request = PromptRequest(.passcode, operation: long, label: long, reason: long)
    let lines = PromptText(request).lines
    #expect(lines.allSatisfy { $0.count <= 78 } && lines.count < 20)
    expect(
      lines.map { $0.hasPrefix("  + ") ? String($0.dropFirst(4)) : $0 }.joined()
        .components(separatedBy: "… (4700 more characters)").count, equals: 4)
    #expect(PromptText.visible(String(repeating: "e\u{301}", count: 10_000)).unicodeScalars.count < 340)
    expect(PromptText.visible(String(repeating: "x", count: 300)).count, equals: 300)
  }

  @Test("what the kernel says of the program is apart from what it says itself, which follows")
  func claims() {
    var requester = PromptRequest.Requester(processID: 4711, executable: nil)
    requester.name = "ssh-agent"
    var parent = PromptRequest.Requester(processID: 12, executable: nil)
    parent.name = "bash"
    requester.parents = [PromptRequest.Requester(processID: 40, executable: "/usr/bin/tmux"), parent]
    (requester.unit, requester.ownUnit) = ("user@1000.service", "gpg-agent.service")
    requester.command = PromptRequest.Requester(processID: 4720, executable: "/usr/bin/vaultctl")
    let request = PromptRequest(
      .passcode, operation: "read", label: "mail", reason: "nightly report", requester: requester)
    expect(
      PromptText(request, isAboutGrant: true).lines,
      equals: [
        "read: 'mail'", "  asked by a program whose file is not known (process 4711)",
        "  through /usr/bin/vaultctl (process 4720)",
        "  started by /usr/bin/tmux (process 40), by process 12", "  in the unit user@1000.service",
        "  more than once holds for all that process 4711 starts, until a lock", "  says: nightly report",
        "  says: process 4711 is 'ssh-agent'", "  says: process 12 is 'bash'",
        "  says: it is 'gpg-agent.service'",
      ])
  }

  /// Verified to fail when the process that has connected is not named.
  @Test("the process that asks is named apart from the program that has started it, and says its own name")
  func command() {
    var requester = PromptRequest.Requester(processID: 4711, executable: "/usr/bin/make")
    var command = PromptRequest.Requester(processID: 4720, executable: nil)
    command.name = "vaultctl"
    requester.command = command
    expect(
      PromptText(PromptRequest(.passcode, operation: "read", requester: requester)).lines,
      equals: [
        "read", "  asked by /usr/bin/make (process 4711)",
        "  through a program whose file is not known (process 4720)", "  says: process 4720 is 'vaultctl'",
      ])
  }

  /// Verified to fail when such a request names nobody.
  @Test("a program that the kernel does not show is named as such")
  func unknown() {
    expect(
      PromptText(PromptRequest(.passcode, operation: "read", requester: .unknown)).lines,
      equals: ["read", "  asked by a program that the system does not show"])
  }

  /// Verified to fail when rows are as wide as on the usual terminal.
  @Test(
    "no row is wider than the screen, down to eight columns, and each row that goes on says so",
    arguments: [8, 20, 40, 77, 78, 200])
  func narrow(columns: Int) {
    let evil = String(repeating: "x y\u{4E2D}", count: 30)
    let request = PromptRequest(
      .passcode, operation: evil, label: evil, reason: evil,
      requester: .init(processID: 7, executable: "/" + evil), problem: evil)
    let lines = PromptText(request, columns: columns).lines
    #expect(
      lines.allSatisfy { row in
        row.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } <= min(columns, 78)
      })
    let words = lines.filter { !$0.hasPrefix("  + ") }
    expect(words.count, equals: 4, "\(words)")
  }

  /// Verified to fail when a long line is left to the terminal to break.
  @Test("no text can begin a row that passes for another line, wherever the terminal breaks lines")
  func rows() {
    let fact = "  asked by /usr/bin/ssh-agent (process 1)"
    for filler in ["x", "\u{4E2D}", "x y"] {
      for count in 0..<90 {
        let evil = String(repeating: filler, count: count) + fact
        var request = PromptRequest(
          .passcode, operation: "read", label: evil, reason: evil,
          requester: .init(processID: 7, executable: "/" + evil))
        request.requester?.unit = evil
        let lines = PromptText(request).lines
        #expect(lines.filter { $0.hasPrefix("  asked by") }.count == 1, "\(lines)")
        #expect(
          lines.allSatisfy { line in line.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } <= 78 })
      }
    }
  }

  @Test("the words of a source replace ours, without their colon")
  func question() {
    var request = PromptRequest(.presence, operation: "x")
    expect(PromptText(request).question, equals: "login password")
    request.question = "Verification code: "
    expect(PromptText(request).question, equals: "Verification code")
    request.question = " : "
    expect(PromptText(request).question, equals: "login password")
  }

  /// Verified to fail when rows are broken between characters: any number of such letters is one, and no row ends.
  @Test(
    "a fact of any letters is in rows that end",
    arguments: ["a", "\u{1100}", "e\u{301}", "\u{4E2D}", "\u{301}"])
  func anyLetters(letter: String) {
    for count in [1, 36, 37, 77, 78, 79, 200] {
      let rows = PromptText.rows(String(repeating: letter, count: count))
      expect(rows.joined().unicodeScalars.count { $0 == letter.unicodeScalars.first }, equals: count)
      #expect(rows.allSatisfy { row in row.unicodeScalars.count { $0 != "\u{301}" } <= 78 })
    }
  }
}
