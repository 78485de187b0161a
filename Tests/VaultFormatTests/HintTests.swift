import TestSupport
import Testing
import VaultFormat

@Suite("Hints", .bounded)
struct HintTests {
  @Test("a hint without a command says the same to programs and to the tool")
  func plain() {
    let hint: Hint = "try again"
    #expect(hint.sentence == "try again" && hint.toolSentence == "try again")
    let named: Hint = "chmod 600 \("/k")"
    #expect(named.sentence == "chmod 600 /k" && named.toolSentence == named.sentence)
  }

  /// Verified to fail when the text of the tool is also added to the sentence.
  @Test("what only the tool shows is not in the sentence of a program")
  func command() {
    let hint: Hint =
      "\("set a passcode", tool: "run 'x set'") first\(tool: ", with --y"); then try \("again")"
    expect(hint.sentence, equals: "set a passcode first; then try again")
    expect(hint.toolSentence, equals: "run 'x set' first, with --y; then try again")
  }

  @Test("a program reads the hint of an error without a command, and two with one sentence can differ")
  func error() {
    let error = VaultError(.policy, "no", hint: .setPasscodeFirst)
    #expect(error.hint == "set a passcode first" && error.advice == .setPasscodeFirst)
    #expect(Hint.removeExpiry(of: "n") != .removeExpiry(of: "o"))
    #expect(Hint.removeExpiry(of: "a b") != .removeExpiry(of: "c d"))
    expect(Hint.closeKeyFile("/k").toolSentence.hasPrefix("chmod 600 /k; "), equals: true)
  }
}
