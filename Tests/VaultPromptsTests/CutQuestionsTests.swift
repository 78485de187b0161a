import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultPrompts

extension OneAtATime {
  /// On a terminal where programs that do not trust each other are asked about. `Tests/Hostile/asking.py` has the same with a keeper.
  @Suite("A question that was cut", .bounded, .serialized, .requirement("G16"))
  struct CutQuestionsTests {
    private static let pause = "Press Enter to see the next question: "
    private let screen: PseudoTerminal
    private let cuts = CutQuestions()

    init() throws { screen = try PseudoTerminal() }

    private func ask(
      _ label: String, until ending: PromptEnding? = nil, text: String? = nil,
      patience: Duration = .seconds(300)
    ) throws -> Answer {
      var request = PromptRequest(.passcode, operation: "read", label: label)
      request.ending = ending
      request.text = try text.map { try ShownText($0) }
      let (shown, path, cuts) = (request, screen.path, cuts)
      return Answer.reading { () throws(VaultError) in
        try AutomaticPrompt(terminalPath: path, way: .terminal, patience: patience, cuts: cuts) { _ in nil }
          .readSecret(shown)
      }
    }

    /// Has a question cut after half of its answer.
    private func cutOne() throws {
      let ending = PromptEnding()
      let first = try ask("one", until: ending)
      try screen.wait(for: "passcode: ")
      screen.type("first-")
      ending.end()
      try expect(first.wait().error?.code, equals: .cancelled)
    }

    /// The next question is shown after Enter alone, and what was typed until then is no part of its answer.
    private func expectAnswer(of question: Answer, to label: String, typed: String = "half") throws {
      try screen.wait(for: Self.pause, before: "passcode: ")
      screen.type(typed + "\n")
      try screen.wait(for: "read: '\(label)'\r\n")
      screen.type("the answer\n")
      try expect(question.wait().text, equals: "the answer")
    }

    /// Verified to fail when the next question is shown at once.
    @Test("what is typed on after it is dropped, and the next question is shown after Enter")
    func cut() throws {
      try cutOne()
      let second = try ask("two")
      try screen.wait(for: Self.pause, before: "passcode: ")
      #expect(!screen.echoes)
      #expect(!screen.drain().contains("two"))
      screen.type("half\n")
      try screen.wait(for: "read: 'two'\r\n")
      try screen.wait(for: "passcode: ")
      #expect(!second.isThere)
      screen.type("second\n")
      try expect(second.wait().text, equals: "second")
      #expect(!screen.transcript.contains("half") && screen.echoes)
      // The person has seen that it was cut, once.
      let third = try ask("three")
      try screen.wait(for: "read: 'three'\r\n")
      screen.type("third\n")
      try expect(third.wait().text, equals: "third")
    }

    /// Would fail when the cut is noted after the next question has begun.
    @Test("a question that waits for its end is the next one")
    func waiting() throws {
      let ending = PromptEnding()
      let first = try ask("one", until: ending)
      try screen.wait(for: "passcode: ")
      let second = try ask("two")
      ending.end()
      try first.wait()
      try expectAnswer(of: second, to: "two")
    }

    /// Would fail when Enter is no longer waited for once it was asked for.
    @Test("a question that is cut while Enter is waited for is followed by the same")
    func again() throws {
      try cutOne()
      let ending = PromptEnding()
      let second = try ask("two", until: ending)
      try screen.wait(for: Self.pause, before: "passcode: ")
      ending.end()
      try expect(second.wait().error?.code, equals: .cancelled)
      let third = try ask("three")
      try expectAnswer(of: third, to: "three")
      #expect(!screen.transcript.contains("two"))
    }

    /// Verified to fail when only the end of a request counts.
    @Test("one that nobody answers in time is one")
    func timeout() throws {
      try expect(ask("one", patience: .milliseconds(50)).wait().error?.code, equals: .timedOut)
      let second = try ask("two")
      try screen.wait(for: Self.pause, before: "read: 'two'")
      screen.type("\n")
      try screen.wait(for: "passcode: ")
      screen.type("second\n")
      try expect(second.wait().text, equals: "second")
    }

    @Test("one that the person answers or declines is none")
    func answered() throws {
      for (typed, code) in [("one\n", nil), ("\u{4}", VaultError.Code.cancelled), ("a\nb\n", .malformed)] {
        let first = try ask("one")
        try screen.wait(for: "passcode: ")
        screen.type(typed)
        try expect(first.wait().error?.code, equals: code)
      }
      let last = try ask("last")
      try screen.wait(for: "passcode: ")
      screen.type("last\n")
      try expect(last.wait().text, equals: "last")
      #expect(!screen.transcript.contains(Self.pause))
    }

    /// Would fail when only the question for the answer waits, and not the page before it.
    @Test("the pages of the next question wait too, and a page that is cut is a question that is cut")
    func pages() throws {
      try cutOne()
      let ending = PromptEnding()
      let text = (0..<40).map { "line \($0)" }.joined(separator: "\n")
      let second = try ask("two", until: ending, text: text)
      try screen.wait(for: Self.pause, before: "page 1 of ")
      #expect(!screen.drain().contains("line 0"))
      screen.type("half\n")
      try screen.wait(for: "page 1 of ")
      ending.end()
      try second.wait()
      let third = try ask("three")
      try expectAnswer(of: third, to: "three", typed: "")
    }

    /// Verified to fail when the second answer keeps what was typed before Enter was asked for.
    @Test("an answer that is given twice keeps nothing of what was typed before Enter")
    func repeated() throws {
      try cutOne()
      let (path, cuts) = (screen.path, cuts)
      let request = PromptRequest(.passcode, operation: "set", label: "two")
      let second = Answer.reading { () throws(VaultError) in
        do throws(PromptFailure) {
          return try AutomaticPrompt(terminalPath: path, way: .terminal, cuts: cuts) { _ in nil }
            .type(request, isRepeated: true)
        } catch { throw VaultError(failure: error) }
      }
      try screen.wait(for: Self.pause, before: "passcode: ")
      screen.type("half\nmore\n")
      try screen.wait(for: "passcode: ")
      screen.type("second\n")
      try expect(second.wait().text, equals: "second")
    }

    /// Verified to fail when the note is shown there.
    @Test("no note of a prompt that waits pushes a question off such a terminal")
    func notes() throws {
      let first = try ask("one")
      try screen.wait(for: "passcode: ")
      for _ in 0..<3 {
        try expect(ask("two", patience: .milliseconds(50)).wait().error?.code, equals: .timedOut)
      }
      screen.type("one\n")
      try expect(first.wait().text, equals: "one")
      // Of another process.
      let held = try #require(PromptLock(of: screen).hold())
      try expect(ask("two", patience: .milliseconds(50)).wait().error?.code, equals: .timedOut)
      close(held)
      #expect(!screen.drain().contains("Another prompt") && !screen.transcript.contains("Another prompt"))
    }
  }
}
