import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultPrompts

extension OneAtATime {
  /// Verified to fail when the pages are as high as the terminal, and when a long row is cut.
  @Suite("Long texts at a prompt", .bounded, .serialized)
  struct TextPagesTests {
    private static let lines = (1...40).map { "line \($0) of the text" }

    private func request(_ text: String) throws -> PromptRequest {
      var request = PromptRequest(.pin, operation: "sign", label: "bank")
      request.text = try ShownText(text)
      return request
    }

    private func setSize(_ screen: PseudoTerminal, rows: UInt16, columns: UInt16) throws {
      let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(terminal) }
      var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      try #require(unsafe ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
    }

    /// Verified to fail when their rows are as wide as on the usual terminal.
    @Test("facts that do not fit are shown page by page, in rows that a narrow terminal does not break")
    func facts() throws {
      for asks in ["PIN: ", "continue? [y/N] ", "allow it? "] {
        let screen = try PseudoTerminal()
        try setSize(screen, rows: 8, columns: 40)
        let reason = String(repeating: "all is well ", count: 16)
        let path = screen.path
        let answer = Answer.reading { () throws(VaultError) in
          let request = PromptRequest(
            asks == "PIN: " ? .pin : .confirmation, operation: "read", label: "bank", reason: reason,
            requester: .init(processID: 12, executable: "/usr/bin/" + String(repeating: "x", count: 90)))
          let prompt = AutomaticPrompt(terminalPath: path, way: .terminal) { _ in nil }
          switch asks {
          case "PIN: ": return try prompt.readSecret(request)
          case "allow it? ": return SecretBytes(copying: Array(try prompt.allow(request).typed.utf8))
          default: return SecretBytes(copying: [try prompt.confirm(request) ? 0x79 : 0x6E])
          }
        }
        try screen.wait(for: "read: 'bank'\r\n")
        try screen.wait(for: "page 1 of ")
        try screen.wait(for: ", Enter")
        let count = try #require(screen.transcript.firstMatch(of: /page 1 of (\d+)/).flatMap { Int($0.1) })
        for page in 2...count {
          #expect(!screen.transcript.contains(asks))
          screen.type("\n")
          try screen.wait(for: page < count ? "page \(page) of " : asks)
        }
        screen.type(asks == "PIN: " ? "8306\n" : "n\n")
        try expect(answer.wait().text, equals: asks == "PIN: " ? "8306" : asks == "allow it? " ? "no" : "n")
        let rows = screen.transcript.components(separatedBy: "\r\n")
        let facts = rows.filter { !$0.contains("page ") && !$0.contains(asks) }
        #expect(facts.allSatisfy { $0.count <= 40 }, "\(facts)")
      }
    }

    @Test("a text that fits is shown above the question, each line behind a bar")
    func short() throws {
      let screen = try PseudoTerminal()
      let (path, request) = (screen.path, try request("Pay 12 EUR\nto Anna"))
      let answer = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path).readSecret(request)
      }
      try screen.wait(for: "sign: 'bank'\r\n  | Pay 12 EUR\r\n  | to Anna\r\nPIN: ")
      screen.type("8306\n")
      try expect(answer.wait().text, equals: "8306")
    }

    @Test("a longer one is shown page by page: every line is on the screen before the question")
    func pages() throws {
      let screen = try PseudoTerminal()
      try setSize(screen, rows: 10, columns: 80)
      let (path, request) = (screen.path, try request(Self.lines.joined(separator: "\n")))
      let answer = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path).readSecret(request)
      }
      for page in 1...4 {
        try screen.wait(for: "page \(page) of 5, Enter shows the next: ")
        #expect(!screen.transcript.contains("PIN: ") && !screen.echoes)
        screen.type("\n")
      }
      try screen.wait(for: "PIN: ")
      screen.type("8306\n")
      try expect(answer.wait().text, equals: "8306")
      let rows = screen.transcript.components(separatedBy: "\r\n")
      expect(rows.filter { $0.hasPrefix("  | ") }, equals: Self.lines.map { "  | \($0)" })
      let breaks = rows.indices.filter { rows[$0].hasPrefix("page ") }
      #expect(zip([-1] + breaks, breaks).allSatisfy { $1 - $0 <= 10 })
    }

    @Test("a line that is wider than the terminal is continued behind a plus, and none of it is lost")
    func wide() throws {
      let screen = try PseudoTerminal()
      try setSize(screen, rows: 24, columns: 20)
      let text = String(repeating: "0123456789", count: 4) + "汉字汉字汉字汉字汉字"
      let (path, request) = (screen.path, try request(text))
      let answer = Answer.confirming { () throws(VaultError) in
        try TerminalPrompt(path: path).confirm(request)
      }
      try screen.wait(for: "? [y/N] ")
      screen.type("y\n")
      #expect(try answer.wait().agreed == true)
      let rows = screen.transcript.components(separatedBy: "\r\n").filter {
        $0.hasPrefix("  | ") || $0.hasPrefix("  + ")
      }
      #expect(rows.first == "  | 0123456789012345" && rows.dropFirst().allSatisfy { $0.hasPrefix("  + ") })
      expect(rows.map { $0.dropFirst(4) }.joined(), equals: text)
    }

    @Test("pinentry has a short text in its description, and a long one in pages before the question")
    func pinentry() throws {
      let script = try ScriptedPinentry(
        "serve('GETPIN', 'D 8306\\nOK\\n')")
      for text in ["Pay 12 EUR\nto Anna", Self.lines.joined(separator: "\n")] {
        let (pinentry, request) = (script.pinentry(), try request(text))
        let answer = try Answer.reading { () throws(VaultError) in
          try PinentryPrompt(pinentry, by: HeldClock().now).readSecret(request)
        }.wait()
        expect(answer.text, equals: "8306")
        let heard = try script.note("heard").components(separatedBy: "\n")
        #expect(heard.allSatisfy { $0.utf8.count <= 1000 })
        let shown = heard.filter { $0.hasPrefix("SETDESC ") }.flatMap { $0.components(separatedBy: "%0A") }
        expect(
          shown.filter { $0.hasPrefix("  | ") },
          equals: text.components(separatedBy: "\n").map { "  | \($0)" })
        let pages = heard.count { $0 == "CONFIRM" }
        #expect(pages == (text.count < 100 ? 0 : 4))
        #expect(heard.last { $0.hasPrefix("SETDESC") }?.contains("The vault asks for: PIN") == true)
      }
    }

    @Test("declining a page declines the prompt")
    func declined() throws {
      let script = try ScriptedPinentry("serve('CONFIRM', 'ERR 83886179 Operation cancelled\\n')")
      let (pinentry, request) = (script.pinentry(), try request(Self.lines.joined(separator: "\n")))
      let answer = try Answer.reading { () throws(VaultError) in
        try PinentryPrompt(pinentry, by: HeldClock().now).readSecret(request)
      }.wait()
      expect(answer.error?.code, equals: .cancelled)
    }
  }
}
