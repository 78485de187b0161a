import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultPrompts

@Suite("The terminal", .bounded, .serialized)
struct TerminalTests {
  /// What a prompt in this process gave, taken over from its thread.
  private final class Answer: @unchecked Sendable {  // written by the thread before `done`, read after it
    var bytes: [UInt8]?
    var error: TerminalError?
    let done = DispatchSemaphore(value: 0)
  }

  private func ask(_ path: String, _ text: String = "passcode: ", limit: Int = 1024) -> Answer {
    let answer = Answer()
    Thread.detachNewThread {
      do throws(TerminalError) {
        var request = PromptRequest(.passcode, operation: "test")
        request.question = text
        let secret = try TerminalPrompt(path: path).type(request, limit: limit)
        answer.bytes = secret.expose { span in
          (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
      } catch { answer.error = error }
      answer.done.signal()
    }
    return answer
  }

  @Test("a line is read without echo, and echo is back afterwards")
  func line() throws {
    let screen = try PseudoTerminal()
    let answer = ask(screen.path)
    try screen.wait(for: "passcode: ")
    #expect(!screen.echoes)
    screen.type("pä\u{7F}ss wörd\n")
    answer.done.wait()
    #expect(
      answer.bytes == Array("pss wörd".utf8)
        || answer.bytes == Array("p".utf8) + [0xC3] + Array("ss wörd".utf8))
    #expect(screen.echoes)
    #expect(!screen.drain().contains("rd"))
  }

  @Test("the limit counts bytes; a longer line is an error and its rest is not left for the shell")
  func limit() throws {
    for (count, fits) in [(10, true), (11, false), (12, false), (300, false)] {
      let screen = try PseudoTerminal()
      let answer = ask(screen.path, limit: 10)
      try screen.wait(for: "passcode: ")
      screen.type(String(repeating: "x", count: count) + "\n")
      answer.done.wait()
      #expect(answer.bytes?.count == (fits ? count : nil))
      #expect(answer.error == (fits ? nil : .tooLong(limit: 10)))
      #expect(screen.echoes)
      let slave = unsafe open(screen.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
      var byte: UInt8 = 0
      unsafe expect(read(slave, &byte, 1), equals: -1, "\(count): something is left to read")
      close(slave)
    }
  }

  @Test("control characters and overrides of a prompt are shown as what they are")
  func controlCharacters() throws {
    let screen = try PseudoTerminal()
    let answer = ask(screen.path, "pay \u{1B}[2Kbob\u{202E}\r\nno\u{7}: ")
    try screen.wait(for: "pay \\u{1B}[2Kbob\\u{202E}\\u{D}\\u{A}no\\u{7}: ")
    screen.type("x\n")
    answer.done.wait()
    expect(answer.bytes, equals: Array("x".utf8))
  }

  @Test("the end of input cancels")
  func end() throws {
    let screen = try PseudoTerminal()
    let answer = ask(screen.path)
    try screen.wait(for: "passcode: ")
    screen.type("\u{4}")
    answer.done.wait()
    expect(answer.error, equals: .cancelled)
    #expect(screen.echoes)
  }

  @Test("what is no terminal is refused", arguments: ["/dev/null", "/nonexistent/tty", "/etc/passwd"])
  func noTerminal(path: String) {
    #expect { _ = try Terminal(path: path) } throws: {
      if case .noTerminal? = $0 as? TerminalError { true } else { false }
    }
  }
}
