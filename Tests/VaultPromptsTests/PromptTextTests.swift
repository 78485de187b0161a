import Testing
import VaultKit
import VaultPrompts

@Suite("What a prompt shows")
struct PromptTextTests {
  private static let full = PromptRequest(
    .passcode, operation: "read the password", label: "mail", reason: "nightly report",
    requester: .init(processID: 4711, executable: "/usr/bin/report"), problem: "wrong passcode")

  @Test("operation, label, program with its process, reason and the last problem, in this order")
  func everything() {
    #expect(
      PromptText(Self.full).lines == [
        "wrong passcode", "read the password: 'mail'", "  asked by /usr/bin/report (process 4711)",
        "  reason: nightly report",
      ])
    #expect(PromptText(Self.full).question == "passcode")
  }

  @Test("what is not given is not shown; an executable that is not known is said to be so")
  func absent() {
    #expect(PromptText(PromptRequest(.phrase, operation: "unlock")).lines == ["unlock"])
    let unknown = PromptRequest(
      .phrase, operation: "x", requester: .init(processID: 1, executable: nil))
    #expect(PromptText(unknown).lines[1] == "  asked by a program whose file is not known (process 1)")
  }

  /// Planted bug: only ASCII controls are removed: seen to fail. Fails too when one field goes around `visible`.
  @Test(
    "no field can break a line, move the cursor, reorder the text or hide in it",
    arguments: [
      "\n", "\r", "\u{1B}", "\u{7}", "\u{8}", "\u{7F}", "\u{85}", "\u{9B}", "\u{202E}", "\u{2066}",
      "\u{200B}",
      "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{AD}", "\u{E0041}", "\u{E000}", "\0",
    ])
  func hidden(character: String) {
    let evil = "a\(character)b"
    var request = PromptRequest(
      .presence, operation: evil, label: evil, reason: evil,
      requester: .init(processID: 1, executable: "/\(evil)"), problem: evil)
    request.question = evil
    let text = PromptText(request)
    #expect(
      text.lines == ["ab", "ab: 'ab'", "  asked by /ab (process 1)", "  reason: ab"])
    #expect(text.question == "ab")
  }

  /// Planted bug: the cut is made in silence: seen to fail.
  @Test("an over-long field is cut, and the cut is seen")
  func cut() {
    let long = String(repeating: "x", count: 5000)
    let request = PromptRequest(.passcode, operation: long, label: long, reason: long)
    for line in PromptText(request).lines {
      #expect(line.count < 720)
      #expect(line.contains("… (4700 more characters)"))
    }
    #expect(PromptText.visible(String(repeating: "e\u{301}", count: 10_000)).unicodeScalars.count < 340)
    #expect(PromptText.visible(String(repeating: "x", count: 300)).count == 300)
  }

  @Test("the words of a source replace ours, without their colon")
  func question() {
    var request = PromptRequest(.presence, operation: "x")
    #expect(PromptText(request).question == "password")
    request.question = "Verification code: "
    #expect(PromptText(request).question == "Verification code")
    request.question = " : "
    #expect(PromptText(request).question == "password")
  }
}
